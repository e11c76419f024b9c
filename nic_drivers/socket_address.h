// Addresses as the kernel's sockets take them.
#pragma once

#include <sys/socket.h>

#include <cstdint>

#include "datapath/wire.h"

namespace weir {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};
SocketAddress ToSocketAddress(const NetAddress& ip, uint16_t port);
// Without a MAC address. False: neither IPv4 nor IPv6.
bool FromSocketAddress(const sockaddr& from, NetAddress& ip, uint16_t& port);

}  // namespace weir
