#include "nic_drivers/udp/interface.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "nic_drivers/socket_address.h"

namespace weir {
namespace {

struct FreeAddresses {
  void operator()(ifaddrs* list) const { freeifaddrs(list); }
};
std::unique_ptr<ifaddrs, FreeAddresses> AllAddresses() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) list = nullptr;
  return std::unique_ptr<ifaddrs, FreeAddresses>(list);
}

// False: none that Weir can use.
bool Read(const sockaddr* from, NetAddress& out) {
  uint16_t port = 0;
  if (from == nullptr || !FromSocketAddress(*from, out, port)) return false;
  return !out.v6 || !IN6_IS_ADDR_LINKLOCAL(reinterpret_cast<const in6_addr*>(out.ip.data()));
}

int64_t NumberIn(const std::string& name, const char* file, int64_t otherwise) {
  int64_t value = 0;
  std::ifstream in("/sys/class/net/" + name + "/" + file);
  return in >> value ? value : otherwise;
}

}  // namespace

absl::StatusOr<InterfaceFacts> LookAtInterface(const std::string& name) {
  InterfaceFacts facts;
  const auto all = AllAddresses();
  std::vector<std::string> names;
  bool found = false;
  for (const ifaddrs* a = all.get(); a != nullptr; a = a->ifa_next) {
    if (std::ranges::find(names, a->ifa_name) == names.end()) names.emplace_back(a->ifa_name);
    if (name != a->ifa_name) continue;
    found = true;
    facts.up = (a->ifa_flags & IFF_UP) != 0 && (a->ifa_flags & IFF_RUNNING) != 0;
    NetAddress address;
    if (Read(a->ifa_addr, address)) facts.addresses.push_back(address);
  }
  if (!found) {
    return absl::NotFoundError(absl::StrFormat("there is no network interface %s; there are: %s",
                                               name, absl::StrJoin(names, ", ")));
  }
  facts.mtu = static_cast<uint32_t>(NumberIn(name, "mtu", 1500));
  if (const int64_t speed = NumberIn(name, "speed", -1); speed > 0) facts.rate = Mbps(speed);
  facts.numa_node = static_cast<int>(NumberIn(name, "device/numa_node", -1));
  std::error_code error;
  const auto driver =
      std::filesystem::read_symlink("/sys/class/net/" + name + "/device/driver", error);
  if (!error) facts.driver = driver.filename();
  return facts;
}

std::vector<std::string> ListUdpDevices() {
  std::vector<std::string> names;
  const auto all = AllAddresses();
  for (const ifaddrs* a = all.get(); a != nullptr; a = a->ifa_next) {
    NetAddress address;
    if (!Read(a->ifa_addr, address)) continue;
    std::string name = std::string("udp:") + a->ifa_name;
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace weir
