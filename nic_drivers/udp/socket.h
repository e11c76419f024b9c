// One UDP socket, bound to an address and port of this host.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "datapath/wire.h"

namespace weir {

// An address and port as the kernel takes it; either family.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};
SocketAddress ToSocketAddress(const NetAddress& ip, uint16_t port);
// False: neither IPv4 nor IPv6.
bool FromSocketAddress(const sockaddr_storage& from, NetAddress& ip, uint16_t& port);

class UdpSocket {
 public:
  // `port` 0: any. Never waits, never fragments, and tells the class and ECN bits of what arrives
  // and how many datagrams it had no room for. kUnavailable, with the cause.
  static absl::StatusOr<UdpSocket> Open(const NetAddress& ip, uint16_t port);
  UdpSocket() = default;
  ~UdpSocket();
  UdpSocket(UdpSocket&& other) noexcept { *this = std::move(other); }
  UdpSocket& operator=(UdpSocket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

}  // namespace weir
