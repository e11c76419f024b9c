#include "nic_drivers/dpdk/host_facts.h"

#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace weir {

namespace fs = std::filesystem;

std::string FirstLine(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

int64_t FreeHugeBytes() {
  constexpr const char* kPrefix = "hugepages-";
  int64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/sys/kernel/mm/hugepages", error)) {
    const std::string name = entry.path().filename();
    if (name.rfind(kPrefix, 0) != 0) continue;
    const int64_t kilobytes = std::atoll(name.c_str() + std::char_traits<char>::length(kPrefix));
    bytes += kilobytes * 1024 * std::atoll(FirstLine(entry.path() / "free_hugepages").c_str());
  }
  return bytes;
}

std::string KernelDriver(const std::string& pci) {
  std::error_code error;
  const fs::path link = fs::read_symlink("/sys/bus/pci/devices/" + pci + "/driver", error);
  return error ? "" : link.filename().string();
}

bool HasInterface(const std::string& name) { return if_nametoindex(name.c_str()) != 0; }

namespace {

// One ioctl on an interface; false: it does not exist or does not do that.
bool OnInterface(unsigned index, unsigned long what, ifreq& request) {
  if (index == 0 || if_indextoname(index, request.ifr_name) == nullptr) return false;
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return false;
  const bool done = ioctl(socket, what, &request) == 0;
  close(socket);
  return done;
}

}  // namespace

uint32_t InterfaceMtu(unsigned index) {
  ifreq request{};
  return OnInterface(index, SIOCGIFMTU, request) ? static_cast<uint32_t>(request.ifr_mtu) : 0;
}

bool SetInterfaceMtu(unsigned index, uint32_t mtu) {
  ifreq request{};
  request.ifr_mtu = static_cast<int>(mtu);
  return OnInterface(index, SIOCSIFMTU, request);
}

int CurrentNode() {
  unsigned node = 0;
  return getcpu(nullptr, &node) == 0 ? static_cast<int>(node) : -1;
}

}  // namespace weir
