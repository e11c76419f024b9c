#include "nic_drivers/verbs/exchange.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_format.h"
#include "nic_drivers/address_text.h"

namespace weir {
namespace {

constexpr auto kFresh = std::chrono::seconds(1);

socklen_t SocketAddress(const NetAddress& address, sockaddr_storage& out) {
  out = {};
  if (address.v6) {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(kPeerPort);
    std::memcpy(&v6.sin6_addr, address.ip.data(), sizeof v6.sin6_addr);
    std::memcpy(&out, &v6, sizeof v6);
    return sizeof v6;
  }
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(kPeerPort);
  std::memcpy(&v4.sin_addr, address.ip.data() + 12, sizeof v4.sin_addr);
  std::memcpy(&out, &v4, sizeof v4);
  return sizeof v4;
}

NetAddress IpOf(const sockaddr_storage& from) {
  NetAddress address;
  if (from.ss_family == AF_INET6) {
    address.v6 = true;
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&from);
    std::memcpy(address.ip.data(), &v6->sin6_addr, 16);
  } else {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&from);
    std::memcpy(address.ip.data() + 12, &v4->sin_addr, 4);
  }
  return address;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PeerExchange>> PeerExchange::Start(Config config) {
  std::unique_ptr<PeerExchange> exchange(new PeerExchange(std::move(config)));
  if (absl::Status status = exchange->Open(); !status.ok()) return status;
  exchange->thread_ = std::thread([e = exchange.get()] { e->Run(); });
  return exchange;
}

absl::Status PeerExchange::Open() {
  const NetAddress& own = config_.own.address;
  sockaddr_storage address;
  const socklen_t size = SocketAddress(own, address);
  socket_ = socket(own.v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  stop_ = eventfd(0, EFD_CLOEXEC);
  if (socket_ < 0 || stop_ < 0 ||
      bind(socket_, reinterpret_cast<const sockaddr*>(&address), size) != 0) {
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

PeerExchange::~PeerExchange() {
  if (thread_.joinable()) {
    (void)eventfd_write(stop_, 1);
    thread_.join();
  }
  if (socket_ >= 0) (void)close(socket_);
  if (stop_ >= 0) (void)close(stop_);
}

void PeerExchange::Run() {
  pollfd waits[] = {{.fd = stop_, .events = POLLIN, .revents = 0},
                    {.fd = socket_, .events = POLLIN, .revents = 0},
                    {.fd = config_.device->async_fd, .events = POLLIN, .revents = 0}};
  while (true) {
    if (poll(waits, std::size(waits), -1) < 0 && errno != EINTR) return;
    if (waits[0].revents != 0) return;
    if (waits[1].revents != 0) HandleDatagram();
    if ((waits[2].revents & POLLIN) != 0) {
      HandleEvent();
    } else if (waits[2].revents != 0) {
      waits[2].fd = -1;  // the device hung up
      config_.on_event(IBV_EVENT_DEVICE_FATAL);
    }
  }
}

void PeerExchange::HandleEvent() {
  ibv_async_event event;
  if (ibv_get_async_event(config_.device, &event) != 0) return;
  const int type = event.event_type;
  ibv_ack_async_event(&event);
  config_.on_event(type);
}

void PeerExchange::HandleDatagram() {
  std::array<std::byte, kPeerMessageMax> bytes;
  sockaddr_storage from{};
  socklen_t size = sizeof from;
  const ssize_t got =
      recvfrom(socket_, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&from), &size);
  if (got <= 0) return;
  PeerMessage message;
  if (!Decode(std::span(bytes).first(static_cast<size_t>(got)), message)) return;
  // Nobody speaks for another.
  const NetAddress sender = IpOf(from);
  if (sender.ip != message.address.ip || sender.v6 != message.address.v6) return;
  const absl::Status status = config_.peers->Learn(message);
  if (message.question) Send(message.address, false);
  const std::lock_guard lock(mutex_);
  heard_[message.address.ip] = {.at = Clock::now(), .message = message, .status = status};
}

void PeerExchange::Send(const NetAddress& to, bool question) {
  PeerMessage message = config_.own;
  message.question = question;
  const std::vector<std::byte> bytes = Encode(message);
  sockaddr_storage address;
  const socklen_t size = SocketAddress(to, address);
  // What is lost is asked for again.
  (void)sendto(socket_, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&address),
               size);
}

void PeerExchange::Ask(const NetAddress& remote) { Send(remote, true); }

absl::Status PeerExchange::Find(NetAddress& remote) {
  if (remote.v6 != config_.own.address.v6) {
    return absl::NotFoundError(absl::StrFormat(
        "%s and the device's address %s are of different IP versions; open the device with an "
        "address of the same",
        IpText(remote), IpText(config_.own.address)));
  }
  {
    const std::lock_guard lock(mutex_);
    const auto found = heard_.find(remote.ip);
    if (found != heard_.end() && Clock::now() - found->second.at < kFresh) {
      const Heard& heard = found->second;
      if (!heard.status.ok()) return heard.status;
      remote.mac = heard.message.address.mac;
      return absl::OkStatus();
    }
  }
  Ask(remote);
  return absl::UnavailableError(absl::StrFormat(
      "%s is being asked for its queue pairs (UDP port %d)", IpText(remote), kPeerPort));
}

}  // namespace weir
