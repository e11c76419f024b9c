#include "nic_drivers/verbs/exchange_socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_format.h"
#include "nic_drivers/address_text.h"
#include "nic_drivers/socket_address.h"
#include "nic_drivers/verbs/link_message.h"
#include "nic_drivers/verbs/peer_message.h"

namespace weir {
namespace {

constexpr size_t kDatagramMax = std::max(kPeerMessageMax, kLinkMessageMax);

}  // namespace

absl::StatusOr<std::unique_ptr<ExchangeSocket>> ExchangeSocket::Start(Config config) {
  std::unique_ptr<ExchangeSocket> socket(new ExchangeSocket(std::move(config)));
  if (absl::Status status = socket->Open(); !status.ok()) return status;
  socket->thread_ = std::thread([s = socket.get()] { s->Run(); });
  return socket;
}

absl::Status ExchangeSocket::Open() {
  const NetAddress& own = config_.own;
  const SocketAddress address = ToSocketAddress(own, kPeerPort);
  socket_ = socket(own.v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  stop_ = eventfd(0, EFD_CLOEXEC);
  if (socket_ < 0 || stop_ < 0 || bind(socket_, address.get(), address.size) != 0) {
    return absl::UnavailableError(absl::StrFormat(
        "UDP port %d of %s, where peers ask for queue pairs, cannot be had: %s; is another process "
        "using this device?",
        kPeerPort, IpText(own), std::strerror(errno)));
  }
  // The thread waits for several things at once.
  const int flags = fcntl(config_.device->async_fd, F_GETFL);
  (void)fcntl(config_.device->async_fd, F_SETFL, flags | O_NONBLOCK);
  return absl::OkStatus();
}

ExchangeSocket::~ExchangeSocket() {
  if (thread_.joinable()) {
    (void)eventfd_write(stop_, 1);
    thread_.join();
  }
  if (socket_ >= 0) (void)close(socket_);
  if (stop_ >= 0) (void)close(stop_);
}

void ExchangeSocket::Run() {
  pollfd waits[] = {{.fd = stop_, .events = POLLIN, .revents = 0},
                    {.fd = socket_, .events = POLLIN, .revents = 0},
                    {.fd = config_.device->async_fd, .events = POLLIN, .revents = 0}};
  const int wait = config_.on_tick ? kTick : -1;
  while (true) {
    if (poll(waits, std::size(waits), wait) < 0 && errno != EINTR) return;
    if (waits[0].revents != 0) return;
    if (config_.on_tick) config_.on_tick();
    if (waits[1].revents != 0) HandleDatagram();
    if ((waits[2].revents & POLLIN) != 0) {
      HandleEvent();
    } else if (waits[2].revents != 0) {
      waits[2].fd = -1;  // the device hung up
      config_.on_event(IBV_EVENT_DEVICE_FATAL);
    }
  }
}

void ExchangeSocket::HandleEvent() {
  ibv_async_event event;
  if (ibv_get_async_event(config_.device, &event) != 0) return;
  const int type = event.event_type;
  ibv_ack_async_event(&event);
  config_.on_event(type);
}

void ExchangeSocket::HandleDatagram() {
  std::array<std::byte, kDatagramMax> bytes;
  sockaddr_storage from{};
  socklen_t size = sizeof from;
  const ssize_t got =
      recvfrom(socket_, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&from), &size);
  NetAddress peer;
  uint16_t port = 0;
  if (got <= 0 || !FromSocketAddress(reinterpret_cast<const sockaddr&>(from), peer, port)) return;
  config_.on_datagram(peer, std::span(bytes).first(static_cast<size_t>(got)));
}

void ExchangeSocket::Send(const NetAddress& to, std::span<const std::byte> bytes) {
  const SocketAddress address = ToSocketAddress(to, kPeerPort);
  (void)sendto(socket_, bytes.data(), bytes.size(), 0, address.get(), address.size);
}

}  // namespace weir
