// One UDP socket, bound to an address and port of this host.
#pragma once

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "datapath/wire.h"
#include "nic_drivers/owned_fd.h"

namespace weir {

class UdpSocket {
 public:
  // `port` 0: any. Never waits, never fragments, and tells the class and ECN bits of what arrives
  // and how many datagrams it had no room for. kUnavailable, with the cause.
  static absl::StatusOr<UdpSocket> Open(const NetAddress& ip, uint16_t port);
  UdpSocket() = default;

  int fd() const { return fd_.get(); }

 private:
  explicit UdpSocket(OwnedFd fd) : fd_(std::move(fd)) {}

  OwnedFd fd_;
};

}  // namespace weir
