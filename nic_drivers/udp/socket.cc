#include "nic_drivers/udp/socket.h"

#include <netinet/in.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_format.h"
#include "nic_drivers/address_text.h"
#include "nic_drivers/socket_address.h"

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

absl::StatusOr<UdpSocket> UdpSocket::Open(const NetAddress& ip, uint16_t port) {
  OwnedFd fd(socket(ip.v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const SocketAddress address = ToSocketAddress(ip, port);
  if (fd.get() >= 0 && SetUp(fd.get(), ip.v6) && bind(fd.get(), address.get(), address.size) == 0) {
    return UdpSocket(std::move(fd));
  }
  const char* remedy = errno == EADDRINUSE      ? "; another process of this address has it"
                       : errno == EADDRNOTAVAIL ? "; give the interface this address (ip addr add)"
                       : errno == EMFILE        ? "; allow more open files (ulimit -n)"
                                                : "";
  return absl::UnavailableError(absl::StrFormat("UDP port %d of %s cannot be had: %s%s", port,
                                                IpText(ip), std::strerror(errno), remedy));
}

}  // namespace weir
