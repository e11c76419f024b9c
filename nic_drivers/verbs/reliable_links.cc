#include "nic_drivers/verbs/reliable_links.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/strings/str_format.h"
#include "nic_drivers/address.h"
#include "nic_drivers/address_text.h"
#include "nic_drivers/verbs/flow_label.h"

namespace weir {
namespace {

constexpr auto kAskEvery = std::chrono::milliseconds(100);
constexpr auto kConfirmMax = std::chrono::seconds(3);
constexpr auto kLinger = std::chrono::seconds(1);
constexpr uint32_t kMask24 = 0xFFFFFF;

uint64_t Random() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ReliableLinks>> ReliableLinks::Start(Config config) {
  std::unique_ptr<ReliableLinks> links(new ReliableLinks(std::move(config)));
  ReliableLinks* l = links.get();
  l->links_.resize(l->config_.links_max);
  l->inline_bytes_ = l->config_.pairs.inline_bytes;
  absl::StatusOr<std::unique_ptr<ExchangeSocket>> socket = ExchangeSocket::Start(
      {.own = l->config_.address,
       .device = l->config_.device,
       .on_datagram = [l](const NetAddress& from,
                          std::span<const std::byte> bytes) { l->HandleDatagram(from, bytes); },
       .on_event = l->config_.on_event,
       .on_tick = [l] { l->Tick(); }});
  if (!socket.ok()) return socket.status();
  const std::lock_guard lock(l->mutex_);
  l->socket_ = *std::move(socket);
  return links;
}

// Peers whose links end with the device are told, once.
ReliableLinks::~ReliableLinks() {
  for (LinkId i = 0; i < links_.size(); ++i) Close(i, true);
  socket_.reset();
}

// --- On the thread that polls ---

LinkId ReliableLinks::FindFree() const {
  for (const Link& link : links_) {
    if (link.state == State::kFree) return NumberOf(link);
  }
  return config_.links_max;
}

LinkMessage ReliableLinks::Message(LinkMessage::Kind kind, uint64_t nonce) const {
  return {.kind = kind,
          .mtu = config_.mtu,
          .address = config_.address,
          .gid = config_.gid,
          .nonce = nonce};
}

absl::Status ReliableLinks::MakePairs(Link& link, uint32_t count) {
  link.pairs.clear();
  link.own.pairs.clear();
  link.own.regions = regions_;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t inline_bytes = 0;
    absl::StatusOr<VerbsQp> pair = MakeReliablePair(config_.pairs, inline_bytes);
    if (!pair.ok() && i > 0) break;  // the device has no more
    if (!pair.ok()) return pair.status();
    inline_bytes_ = std::min(inline_bytes_.load(), inline_bytes);
    link.own.pairs.push_back(
        {.number = (*pair)->qp_num, .psn = static_cast<uint32_t>(Random()) & kMask24});
    link.pairs.push_back(*std::move(pair));
  }
  return absl::OkStatus();
}

absl::StatusOr<LinkId> ReliableLinks::Open(const LinkRequest& request) {
  if (request.remote.v6 != config_.address.v6) {
    return absl::NotFoundError(absl::StrFormat(
        "%s and the device's address %s are of different IP versions; open the device with an "
        "address of the same",
        IpText(request.remote), IpText(config_.address)));
  }
  const std::lock_guard lock(mutex_);
  const LinkId number = FindFree();
  if (number == config_.links_max) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "all %d links of the device are in use, or were within the last second", number));
  }
  Link& link = links_[number];
  link.own = Message(LinkMessage::Kind::kOpen, Random());
  link.own.dscp = request.dscp;
  const uint32_t paths = std::clamp(request.paths, 1u, config_.paths_max);
  if (absl::Status status = MakePairs(link, paths); !status.ok()) return status;
  ++link.use;
  link.state = State::kOpening;
  link.ours = true;
  link.remote = request.remote;
  link.since = link.sent_at = Clock::now();
  Send(link.remote, link.own);
  return number;
}

void ReliableLinks::Close(LinkId number, bool stop) {
  const std::lock_guard lock(mutex_);
  Link& link = links_[number];
  if (link.state == State::kFree || link.state == State::kClosed) return;
  if (stop) {
    for (const VerbsQp& pair : link.pairs) StopReliablePair(pair.get());
    Send(link.remote, Message(LinkMessage::Kind::kRefuse, link.own.nonce));
  }
  link.state = State::kClosed;
  link.since = Clock::now();
}

uint32_t ReliableLinks::UseOf(LinkId number) {
  const std::lock_guard lock(mutex_);
  return links_[number].use;
}

void ReliableLinks::Confirm(LinkId number) {
  const std::lock_guard lock(mutex_);
  Link& link = links_[number];
  if (link.state == State::kMade) link.state = State::kOpen;
}

std::vector<ReliableLinks::News> ReliableLinks::TakeNews() {
  const std::lock_guard lock(mutex_);
  has_news_.store(false, std::memory_order_relaxed);
  return std::exchange(news_, {});
}

absl::StatusOr<uint32_t> ReliableLinks::AddRegion(const LinkMessage::Region& region) {
  const std::lock_guard lock(mutex_);
  if (regions_.size() == kLinkRegionsMax) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("a device tells its peers of %d regions at most", kLinkRegionsMax));
  }
  regions_.push_back(region);
  return static_cast<uint32_t>(regions_.size() - 1);
}

// --- On the socket's thread ---

void ReliableLinks::Tell(News news) {
  news_.push_back(std::move(news));
  has_news_.store(true, std::memory_order_release);
}

// What is sent before the socket is there is asked for again.
void ReliableLinks::Send(const NetAddress& to, const LinkMessage& message) {
  if (socket_ != nullptr) socket_->Send(to, Encode(message));
}

void ReliableLinks::HandleDatagram(const NetAddress& from, std::span<const std::byte> bytes) {
  LinkMessage message;
  // Nobody speaks for another.
  if (!Decode(bytes, message) || !SameIp(from, message.address)) return;
  const std::lock_guard lock(mutex_);
  if (message.kind == LinkMessage::Kind::kOpen) return HandleOpen(message);
  for (Link& link : links_) {
    if (link.state == State::kFree || link.own.nonce != message.nonce ||
        !SameIp(link.remote, from)) {
      continue;
    }
    if (message.kind == LinkMessage::Kind::kAccept) return HandleAccept(link, message);
    if (link.state == State::kClosed) return;
    if (message.kind == LinkMessage::Kind::kRefuse) {
      return Tell({.kind = News::Kind::kRefused, .link = NumberOf(link), .use = link.use});
    }
    if (link.state != State::kMade) return;  // told already
    link.state = State::kOpen;
    return Tell({.kind = News::Kind::kConfirmed, .link = NumberOf(link), .use = link.use});
  }
}

absl::Status ReliableLinks::ConnectPairs(Link& link, const LinkMessage& peer) {
  // As many as both have.
  while (link.pairs.size() > peer.pairs.size()) link.pairs.pop_back();
  for (size_t i = 0; i < link.pairs.size(); ++i) {
    absl::Status status =
        ConnectReliablePair(config_.pairs, link.pairs[i].get(), link.own.pairs[i].psn,
                            {.pair = peer.pairs[i],
                             .gid = peer.gid,
                             .mtu = std::min(peer.mtu, config_.mtu),
                             .dscp = link.own.dscp,
                             .flow_label = FlowLabelOfPath(static_cast<uint32_t>(i))});
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void ReliableLinks::HandleOpen(const LinkMessage& message) {
  for (Link& link : links_) {
    if (link.state == State::kFree || link.ours || link.own.nonce != message.nonce ||
        !SameIp(link.remote, message.address)) {
      continue;
    }
    if (link.state != State::kClosed) Send(link.remote, link.own);
    return;
  }
  const LinkId number = FindFree();
  const LinkMessage refusal = Message(LinkMessage::Kind::kRefuse, message.nonce);
  if (number == config_.links_max) return Send(message.address, refusal);
  Link& link = links_[number];
  link.own = Message(LinkMessage::Kind::kAccept, message.nonce);
  link.own.dscp = message.dscp;
  const auto wanted = static_cast<uint32_t>(message.pairs.size());
  absl::Status status = MakePairs(link, std::min(wanted, config_.paths_max));
  if (status.ok()) status = ConnectPairs(link, message);
  if (!status.ok()) {
    link.pairs.clear();
    return Send(message.address, refusal);
  }
  ++link.use;
  link.state = State::kMade;
  link.ours = false;
  link.remote = message.address;
  link.since = Clock::now();
  News news{.kind = News::Kind::kMade, .link = number, .use = link.use, .regions = message.regions};
  for (const VerbsQp& pair : link.pairs) news.pairs.push_back(pair.get());
  Tell(std::move(news));
  Send(link.remote, link.own);
}

void ReliableLinks::HandleAccept(Link& link, const LinkMessage& message) {
  if (!link.ours || link.state == State::kClosed) return;
  if (link.state == State::kOpening) {
    if (message.pairs.size() > link.pairs.size()) return;  // more than were offered
    if (!ConnectPairs(link, message).ok()) {
      Send(link.remote, Message(LinkMessage::Kind::kRefuse, link.own.nonce));
      return Tell({.kind = News::Kind::kRefused, .link = NumberOf(link), .use = link.use});
    }
    link.state = State::kOpen;
    News news{.kind = News::Kind::kOpened,
              .link = NumberOf(link),
              .use = link.use,
              .regions = message.regions};
    for (const VerbsQp& pair : link.pairs) news.pairs.push_back(pair.get());
    Tell(std::move(news));
  }
  Send(link.remote, Message(LinkMessage::Kind::kConfirm, link.own.nonce));
}

void ReliableLinks::Tick() {
  const Clock::time_point now = Clock::now();
  const std::lock_guard lock(mutex_);
  for (Link& link : links_) {
    if (link.state == State::kOpening && now - link.sent_at >= kAskEvery) {
      link.sent_at = now;
      Send(link.remote, link.own);
    } else if (link.state == State::kMade && now - link.since >= kConfirmMax) {
      link.since = now;  // said again, should it still be here
      Tell({.kind = News::Kind::kExpired, .link = NumberOf(link), .use = link.use});
    } else if (link.state == State::kClosed && now - link.since >= kLinger) {
      link.pairs.clear();
      link.state = State::kFree;
    }
  }
}

}  // namespace weir
