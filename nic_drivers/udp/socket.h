// One UDP socket, bound to an address and port of this host.
#pragma once

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "datapath/wire.h"

namespace weir {

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
