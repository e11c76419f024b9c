#include "nic_drivers/verbs/exchange.h"

#include "absl/strings/str_format.h"
#include "nic_drivers/address_text.h"

namespace weir {
namespace {

constexpr auto kFresh = std::chrono::seconds(1);

}  // namespace

absl::StatusOr<std::unique_ptr<PeerExchange>> PeerExchange::Start(Config config) {
  std::unique_ptr<PeerExchange> exchange(new PeerExchange(std::move(config)));
  PeerExchange* e = exchange.get();
  absl::StatusOr<std::unique_ptr<ExchangeSocket>> socket = ExchangeSocket::Start(
      {.own = e->config_.own.address,
       .device = e->config_.device,
       .on_datagram = [e](const NetAddress& from,
                          std::span<const std::byte> bytes) { e->HandleDatagram(from, bytes); },
       .on_event = e->config_.on_event});
  if (!socket.ok()) return socket.status();
  const std::lock_guard lock(e->mutex_);
  e->socket_ = *std::move(socket);
  return exchange;
}

void PeerExchange::HandleDatagram(const NetAddress& from, std::span<const std::byte> bytes) {
  PeerMessage message;
  if (!Decode(bytes, message)) return;
  // Nobody speaks for another.
  if (from.ip != message.address.ip || from.v6 != message.address.v6) return;
  const absl::Status status = config_.peers->Learn(message);
  if (message.question) Send(message.address, false);
  const std::lock_guard lock(mutex_);
  heard_[message.address.ip] = {.at = Clock::now(), .message = message, .status = status};
}

void PeerExchange::Send(const NetAddress& to, bool question) {
  PeerMessage message = config_.own;
  message.question = question;
  // What is lost is asked for again; so is what comes while this one is being started.
  const std::lock_guard lock(mutex_);
  if (socket_ != nullptr) socket_->Send(to, Encode(message));
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
