#include "nic_drivers/socket_address.h"

#include <netinet/in.h>

#include <cstring>

namespace weir {

SocketAddress ToSocketAddress(const NetAddress& ip, uint16_t port) {
  SocketAddress out;
  if (ip.v6) {
    sockaddr_in6 to{};
    to.sin6_family = AF_INET6;
    to.sin6_port = htons(port);
    std::memcpy(&to.sin6_addr, ip.ip.data(), 16);
    std::memcpy(&out.storage, &to, sizeof to);
    out.size = sizeof to;
    return out;
  }
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  std::memcpy(&to.sin_addr, ip.ip.data() + 12, 4);
  std::memcpy(&out.storage, &to, sizeof to);
  out.size = sizeof to;
  return out;
}

bool FromSocketAddress(const sockaddr& from, NetAddress& ip, uint16_t& port) {
  ip = {};
  if (from.sa_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(from);
    std::memcpy(ip.ip.data() + 12, &in.sin_addr, 4);
    port = ntohs(in.sin_port);
    return true;
  }
  if (from.sa_family != AF_INET6) return false;
  const auto& in = reinterpret_cast<const sockaddr_in6&>(from);
  ip.v6 = true;
  std::memcpy(ip.ip.data(), &in.sin6_addr, 16);
  port = ntohs(in.sin6_port);
  return true;
}

}  // namespace weir
