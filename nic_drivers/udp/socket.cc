#include "nic_drivers/udp/socket.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_format.h"
#include "nic_drivers/address_text.h"

namespace weir {
namespace {

constexpr int kReceiveBytes = 8 << 20;

bool Set(int fd, int level, int name, int value) {
  return setsockopt(fd, level, name, &value, sizeof value) == 0;
}

bool SetUp(int fd, bool v6) {
  // More than the host's limit needs a privilege; without it the limit is what there is.
  if (!Set(fd, SOL_SOCKET, SO_RCVBUFFORCE, kReceiveBytes)) {
    (void)Set(fd, SOL_SOCKET, SO_RCVBUF, kReceiveBytes);
  }
  if (!Set(fd, SOL_SOCKET, SO_RXQ_OVFL, 1)) return false;
  if (v6) {
    return Set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) && Set(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1) &&
           Set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
  }
  return Set(fd, IPPROTO_IP, IP_RECVTOS, 1) &&
         Set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
}

}  // namespace

SocketAddress ToSocketAddress(const NetAddress& ip, uint16_t port) {
  SocketAddress out;
  if (ip.v6) {
    auto& to = reinterpret_cast<sockaddr_in6&>(out.storage);
    to.sin6_family = AF_INET6;
    to.sin6_port = htons(port);
    std::memcpy(&to.sin6_addr, ip.ip.data(), 16);
    out.size = sizeof to;
    return out;
  }
  auto& to = reinterpret_cast<sockaddr_in&>(out.storage);
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  std::memcpy(&to.sin_addr, ip.ip.data() + 12, 4);
  out.size = sizeof to;
  return out;
}

bool FromSocketAddress(const sockaddr_storage& from, NetAddress& ip, uint16_t& port) {
  ip = {};
  if (from.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(from);
    std::memcpy(ip.ip.data() + 12, &in.sin_addr, 4);
    port = ntohs(in.sin_port);
    return true;
  }
  if (from.ss_family != AF_INET6) return false;
  const auto& in = reinterpret_cast<const sockaddr_in6&>(from);
  ip.v6 = true;
  std::memcpy(ip.ip.data(), &in.sin6_addr, 16);
  port = ntohs(in.sin6_port);
  return true;
}

absl::StatusOr<UdpSocket> UdpSocket::Open(const NetAddress& ip, uint16_t port) {
  UdpSocket out;
  out.fd_ = socket(ip.v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const SocketAddress address = ToSocketAddress(ip, port);
  if (out.fd_ >= 0 && SetUp(out.fd_, ip.v6) &&
      bind(out.fd_, reinterpret_cast<const sockaddr*>(&address.storage), address.size) == 0) {
    return out;
  }
  const char* remedy = errno == EADDRINUSE      ? "; another process of this address has it"
                       : errno == EADDRNOTAVAIL ? "; give the interface this address (ip addr add)"
                       : errno == EMFILE        ? "; allow more open files (ulimit -n)"
                                                : "";
  return absl::UnavailableError(absl::StrFormat("UDP port %d of %s cannot be had: %s%s", port,
                                                IpText(ip), std::strerror(errno), remedy));
}

UdpSocket::~UdpSocket() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace weir
