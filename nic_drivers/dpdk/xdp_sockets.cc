#include "nic_drivers/dpdk/xdp_sockets.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>

namespace weir {

std::set<int> XdpSockets::All() {
  std::set<int> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const int fd = std::atoi(entry.path().filename().c_str());
    int domain = 0;
    socklen_t size = sizeof domain;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_XDP) {
      found.insert(fd);
    }
  }
  return found;
}

void XdpSockets::End() {
  const std::set<int> all = All();
  std::set_difference(all.begin(), all.end(), others_.begin(), others_.end(),
                      std::inserter(ours_, ours_.end()));
}

void XdpSockets::Close() {
  const std::set<int> all = All();
  for (const int fd : ours_) {
    if (all.contains(fd)) close(fd);
  }
  ours_.clear();
}

}  // namespace weir
