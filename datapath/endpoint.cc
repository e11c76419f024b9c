#include "datapath/endpoint.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace weir {
namespace {

constexpr uint32_t kIndexBits = 20;
constexpr uint32_t kIndexMask = (1u << kIndexBits) - 1;
constexpr uint32_t kPayloadMax = 9000;

// At most this many packets of an open are lost in a row before the timeout is what counts.
constexpr int kOpenBackoffMax = 8;

template <size_t N>
std::array<char, N> Padded(const char* text) {
  std::array<char, N> out{};
  for (size_t i = 0; i < N && text[i] != '\0'; ++i) out[i] = text[i];
  return out;
}

uint32_t RoundUpToPowerOfTwo(uint32_t n) {
  uint32_t power = 1;
  while (power < n) power *= 2;
  return power;
}

std::string MissingSignals(Signals missing) {
  std::string names;
  for (const Signal s : kAllSignals) {
    if (!missing.Has(s)) continue;
    if (!names.empty()) names += ", ";
    names += Name(s);
  }
  return names;
}

absl::Status CheckConfig(const EndpointConfig& config) {
  if (config.line_rate <= Rate(0) || config.base_rtt <= Duration(0)) {
    return absl::InvalidArgumentError("endpoint: line_rate and base_rtt must be above zero");
  }
  if (config.payload_max < 64 || config.payload_max > kPayloadMax) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "endpoint: payload_max is %d, allowed is 64 to %d", config.payload_max, kPayloadMax));
  }
  if (config.connections_max == 0 || config.connections_max > kIndexMask) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "endpoint: connections_max is %d, allowed is 1 to %d", config.connections_max, kIndexMask));
  }
  if (config.credit != nullptr && config.binding != nullptr &&
      config.binding->cc->receiver_half != nullptr &&
      config.binding->cc->receiver_half->id != config.credit->id) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "endpoint: %s needs the receiver half \"%s\", but credit names \"%s\"",
        config.binding->cc->name, config.binding->cc->receiver_half->name, config.credit->name));
  }
  if (config.listen && (config.binding == nullptr || config.binding->cc == nullptr ||
                        config.binding->lb == nullptr)) {
    return absl::InvalidArgumentError(
        "endpoint: to listen it needs a binding (algorithm and policy) for accepted connections");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Endpoint>> Endpoint::Create(const EndpointConfig& config,
                                                           Pool<TxPage>* pages) {
  if (absl::Status status = CheckConfig(config); !status.ok()) return status;
  return std::unique_ptr<Endpoint>(new Endpoint(config, pages));
}

Endpoint::Endpoint(const EndpointConfig& config, Pool<TxPage>* pages)
    : config_(config),
      shared_(config.tx_messages_max, config.rx_messages_max, config.completions_max),
      own_pages_(pages == nullptr ? std::make_unique<Pool<TxPage>>(config.tx_pages_max) : nullptr),
      pages_(pages == nullptr ? own_pages_.get() : pages),
      by_peer_(RoundUpToPowerOfTwo(config.connections_max), kNil),
      wheel_(2 * config.connections_max + 1),
      port_(config.line_rate),
      full_packet_(Bytes(config.payload_max + DataOverhead(config.address.v6, false)) /
                   config.line_rate),
      notices_(kNotices),
      replies_(kReplies) {
  shared_.regions.resize(config.regions_max);
  for (uint32_t i = 0; i < config.connections_max; ++i) connections_.emplace_back(shared_, i);
  free_.reserve(config.connections_max);
  for (uint32_t i = config.connections_max; i > 0; --i) free_.push_back(i - 1);
  const Duration queue = config.max_queue > Duration(0) ? config.max_queue : config.base_rtt;
  if (config.ack_delay == Duration(0)) config_.ack_delay = config.base_rtt;
  if (config.rto_min == Duration(0)) {
    config_.rto_min = 2 * config.base_rtt + queue + config_.ack_delay;
  }
  if (config.credit != nullptr) {
    const uint32_t mtu = config.payload_max + DataOverhead(config.address.v6, false);
    scheduler_.reset(config.credit->create({.mtu = Bytes(mtu),
                                            .line_rate = config.line_rate,
                                            .base_rtt = config.base_rtt,
                                            .connections = config.connections_max,
                                            .seed = config.seed},
                                           config.credit_config));
  }
}

// --- Application ---

Connection* Endpoint::FindLive(WireId id) {
  const uint32_t index = id.value & kIndexMask;
  if (index >= connections_.size()) return nullptr;
  Connection& c = connections_[index];
  return c.live() && c.id == id ? &c : nullptr;
}

const Connection* Endpoint::Find(WireId id) const {
  return const_cast<Endpoint*>(this)->FindLive(id);
}

absl::StatusOr<Connection*> Endpoint::Live(WireId id) {
  Connection* c = FindLive(id);
  if (c != nullptr) return c;
  return absl::NotFoundError(
      absl::StrFormat("connection %#x does not exist or has ended; open a new one", id.value));
}

absl::StatusOr<WireId> Endpoint::Connect(Time now, const NetAddress& remote,
                                         const Binding& binding) {
  if (binding.cc == nullptr || binding.lb == nullptr || binding.paths == 0) {
    return absl::InvalidArgumentError("connect: the binding names no algorithm, policy or path");
  }
  const Signals missing = (binding.cc->needs | binding.lb->needs).Without(config_.signals);
  if (!missing.empty()) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "connect: %s with %s needs %s, which this port does not supply; choose another algorithm "
        "or enable it in the network",
        binding.cc->name, binding.lb->name, MissingSignals(missing)));
  }
  Connection* c = Allocate(remote, binding);
  if (c == nullptr) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "connect: all %d connections are in use; raise connections_max", config_.connections_max));
  }
  c->active = true;
  c->state = ConnectionState::kOpening;
  c->nonce = Mix64(config_.seed ^ Mix64(++nonces_));
  c->give_up_at = now + config_.open_timeout;
  Retry(now, *c);
  UpdateDeadline(now, *c);
  return c->id;
}

absl::Status Endpoint::Close(Time now, WireId id) {
  absl::StatusOr<Connection*> c = Live(id);
  if (!c.ok()) return c.status();
  if (!(*c)->established()) return Abort(now, id);
  if ((*c)->state != ConnectionState::kOpen) return absl::OkStatus();
  (*c)->state = ConnectionState::kDraining;
  AfterEvent(now, **c);
  return absl::OkStatus();
}

absl::Status Endpoint::Abort(Time now, WireId id) {
  now_ = std::max(now_, now);
  absl::StatusOr<Connection*> c = Live(id);
  if (!c.ok()) return c.status();
  if ((*c)->peer.value != 0) ReplyAbort((*c)->remote, (*c)->peer, kOurDecision);
  End(**c, Event::kFailed, Cause::kAborted);
  return absl::OkStatus();
}

absl::Status Endpoint::Rebind(Time now, WireId id, const Binding& binding) {
  absl::StatusOr<Connection*> c = Live(id);
  if (!c.ok()) return c.status();
  if (!(*c)->established()) {
    return absl::FailedPreconditionError("rebind: the connection is not open yet; wait for kOpened");
  }
  if (binding.cc == nullptr || binding.lb == nullptr || binding.paths == 0) {
    return absl::InvalidArgumentError("rebind: the binding names no algorithm, policy or path");
  }
  const Signals missing = (binding.cc->needs | binding.lb->needs).Without(config_.signals);
  if (!missing.empty()) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "rebind: %s with %s needs %s, which this port does not supply", binding.cc->name,
        binding.lb->name, MissingSignals(missing)));
  }
  const ReceiverDuty duty = binding.cc->duty(FlowOf(**c), binding.cc_config);
  if (duty.scheduler != (*c)->duty_asked.scheduler ||
      (duty.cnp_interval > Duration(0)) != ((*c)->duty_asked.cnp_interval > Duration(0))) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "rebind: %s asks the receiver for something that was not agreed when the connection "
        "opened; open a new connection for it",
        binding.cc->name));
  }
  (*c)->binding = &binding;
  (*c)->sender.Rebind(now, binding, RulesOf(**c));
  AfterEvent(now, **c);
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> Endpoint::RegisterRegion(std::byte* base, uint64_t size) {
  for (uint32_t i = 0; i < shared_.regions.size(); ++i) {
    if (shared_.regions[i].open) continue;
    shared_.regions[i] = {.base = base, .size = size, .open = true};
    return i;
  }
  return absl::ResourceExhaustedError(absl::StrFormat(
      "register: all %d regions are in use; close one or raise regions_max", config_.regions_max));
}

absl::Status Endpoint::CloseRegion(uint32_t region) {
  if (region >= shared_.regions.size() || !shared_.regions[region].open) {
    return absl::NotFoundError(absl::StrFormat("region %d is not registered", region));
  }
  shared_.regions[region] = Region{};
  return absl::OkStatus();
}

namespace {
absl::Status NoRoom() {
  return absl::ResourceExhaustedError(
      "no room for another message or completion; poll completions or raise tx_messages_max, "
      "rx_messages_max or completions_max");
}
absl::Status CheckPostable(const Connection& c, uint32_t length) {
  if (c.state != ConnectionState::kOpen) {
    return absl::FailedPreconditionError("the connection is not open (yet, or any more)");
  }
  if (length > kMessageMax) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "a message has at most %d bytes; split it into several", kMessageMax));
  }
  return absl::OkStatus();
}
}  // namespace

absl::Status Endpoint::PostSend(Time now, WireId id, const SendRequest& request) {
  absl::StatusOr<Connection*> c = Live(id);
  if (!c.ok()) return c.status();
  if (absl::Status s = CheckPostable(**c, request.length); !s.ok()) return s;
  if (!(*c)->sender.Post(now, request)) return NoRoom();
  AfterEvent(now, **c);
  return absl::OkStatus();
}

absl::Status Endpoint::PostWrite(Time now, WireId id, const WriteRequest& request) {
  absl::StatusOr<Connection*> c = Live(id);
  if (!c.ok()) return c.status();
  if (absl::Status s = CheckPostable(**c, request.length); !s.ok()) return s;
  if (!(*c)->sender.Post(now, request)) return NoRoom();
  AfterEvent(now, **c);
  return absl::OkStatus();
}

absl::Status Endpoint::PostReceive(Time now, WireId id, const ReceiveRequest& request) {
  absl::StatusOr<Connection*> c = Live(id);
  if (!c.ok()) return c.status();
  if (!(*c)->receiver.Post(request)) return NoRoom();
  if ((*c)->established()) AfterEvent(now, **c);
  return absl::OkStatus();
}

// --- Connections ---

uint32_t Endpoint::HashOf(const NetAddress& remote, WireId peer) const {
  uint64_t hash = peer.value;
  for (const uint8_t byte : remote.ip) hash = hash * 31 + byte;
  return static_cast<uint32_t>(Mix64(hash)) & static_cast<uint32_t>(by_peer_.size() - 1);
}

Connection* Endpoint::Allocate(const NetAddress& remote, const Binding& binding) {
  if (free_.empty()) return nullptr;
  // One completion for its beginning, one for its end.
  if (!shared_.completions.Reserve()) return nullptr;
  if (!shared_.completions.Reserve()) {
    shared_.completions.Cancel();
    return nullptr;
  }
  Connection& c = connections_[free_.back()];
  free_.pop_back();
  ++connections_live_;
  ++c.generation;
  c.id = WireId{(c.generation << kIndexBits) | c.index};
  if (c.id.value == 0) c.id.value = (++c.generation << kIndexBits) | c.index;
  c.peer = WireId{};
  c.remote = remote;
  c.binding = &binding;
  c.Renew(shared_);
  c.active = c.confirmed = false;
  c.granted = 0;
  c.retries = 0;
  c.control = 0;
  c.telemetry = c.payload_crc = false;
  c.scheduler = 0;
  c.retry_at = c.give_up_at = Time::Never();
  // Packet numbers start near the wrap, so that it is always exercised.
  const uint64_t random = Mix64(config_.seed ^ Mix64(c.id.value));
  c.first_psn = Psn(0u - static_cast<uint32_t>(random % 512));
  c.writer = FrameWriter(config_.address, remote, static_cast<uint16_t>(random >> 32));
  c.control_path = static_cast<PathId>((random >> 48) % binding.paths);
  c.payload_max = config_.payload_max;
  return &c;
}

FlowInfo Endpoint::FlowOf(const Connection& c) const {
  const uint32_t mtu = c.payload_max + DataOverhead(c.remote.v6, c.telemetry);
  return {.mtu = Bytes(mtu),
          .line_rate = config_.line_rate,
          .base_rtt = config_.base_rtt,
          .max_queue = config_.max_queue,
          .trimming = config_.trimming,
          .credit = c.binding->cc->receiver_half != nullptr,
          .seed = Mix64(config_.seed ^ (uint64_t{c.id.value} << 20))};
}

LossRules Endpoint::RulesOf(const Connection& c) const {
  const bool reorders = c.binding->lb->reordering != Reordering::kNever;
  LossRules rules;
  rules.by_order = c.binding->lb->reordering != Reordering::kAlways;
  rules.reorder_window = config_.reorder_window;
  if (rules.reorder_window == Duration(0)) {
    const Duration queue = std::max(config_.max_queue, config_.base_rtt);
    rules.reorder_window = reorders ? queue : config_.base_rtt / 4;
  }
  rules.rto_min = config_.rto_min;
  rules.retries_max = config_.retries_max;
  return rules;
}

OpenHeader Endpoint::ProposalOf(const Connection& c) const {
  OpenHeader h;
  h.type = c.active ? PacketType::kOpen : PacketType::kAccept;
  const bool telemetry = c.active ? c.binding->cc->needs.Has(Signal::kTelemetry) : c.telemetry;
  if (c.active ? config_.payload_crc : c.payload_crc) h.flags |= OpenHeader::kPayloadCrc;
  if (telemetry) h.flags |= OpenHeader::kTelemetry;
  h.to = c.peer;
  h.from = c.id;
  h.nonce = c.nonce;
  h.first_psn = c.first_psn;
  h.payload_max = c.payload_max;
  h.window = Receiver::kWindow;
  h.receives = c.receiver.receives();
  const ReceiverDuty duty = c.binding->cc->duty(FlowOf(c), c.binding->cc_config);
  h.ack_every = static_cast<uint32_t>(duty.ack_every.count());
  h.cnp_interval = static_cast<uint32_t>(duty.cnp_interval.count());
  h.scheduler = c.binding->cc->receiver_half == nullptr ? 0 : c.binding->cc->receiver_half->id;
  h.algorithm = Padded<16>(c.binding->cc->name);
  h.policy = Padded<16>(c.binding->lb->name);
  return h;
}

// Both ends run it with the other's proposal.
void Endpoint::Establish(Time now, Connection& c, const OpenHeader& h) {
  c.peer = h.from;
  c.payload_max = std::min(c.payload_max, h.payload_max);
  c.payload_crc = config_.payload_crc && (h.flags & OpenHeader::kPayloadCrc) != 0;
  c.telemetry = (h.flags & OpenHeader::kTelemetry) != 0;
  c.scheduler = h.scheduler;
  c.duty_asked = c.binding->cc->duty(FlowOf(c), c.binding->cc_config);
  if (c.binding->cc->receiver_half != nullptr) {
    c.duty_asked.scheduler = c.binding->cc->receiver_half->id;
  }
  c.state = ConnectionState::kOpen;
  c.retry_at = c.give_up_at = Time::Never();
  c.retries = 0;
  c.receiver.Open({.id = c.id,
                   .first_psn = h.first_psn,
                   .duty = {.ack_every = Bytes(h.ack_every),
                            .cnp_interval = Duration(h.cnp_interval),
                            .scheduler = h.scheduler},
                   .ack_delay = config_.ack_delay});
  c.sender.Open(now, *pages_,
                {.id = c.id,
                 .binding = c.binding,
                 .flow = FlowOf(c),
                 .loss = RulesOf(c),
                 .first_psn = c.first_psn,
                 .payload_max = c.payload_max,
                 .overhead = DataOverhead(c.remote.v6, c.telemetry),
                 .window_limit = std::min<uint32_t>(h.window - 64u, TxWindow::kUsable),
                 .receives = h.receives,
                 .telemetry = c.telemetry,
                 .payload_crc = c.payload_crc});
}

void Endpoint::End(Connection& c, Event event, Cause cause, uint32_t detail) {
  // A connection that never opened has not used its first completion.
  if (c.state == ConnectionState::kOpening) shared_.completions.Cancel();
  shared_.completions.Push(
      {.event = event, .cause = cause, .connection = c.id, .detail = detail});
  Free(c);
}

void Endpoint::Free(Connection& c) {
  if (c.state != ConnectionState::kOpening) c.sender.Release();
  c.receiver.Release();
  if (scheduler_ != nullptr && c.scheduler != 0) scheduler_->OnDone(now_, c.index);
  if (!c.active) {
    uint32_t* link = &by_peer_[HashOf(c.remote, c.peer)];
    while (*link != c.index) link = &connections_[*link].hash_next;
    *link = c.hash_next;
  }
  wheel_.Disarm(2 * c.index);
  wheel_.Disarm(2 * c.index + 1);
  c.state = ConnectionState::kFree;
  c.control = 0;  // lists drop it when they come to it
  free_.push_back(c.index);
  --connections_live_;
}

void Endpoint::Retry(Time now, Connection& c) {
  const bool opening = c.state == ConnectionState::kOpening;
  const bool closing = c.state == ConnectionState::kClosing;
  QueueControl(c, opening ? kSendOpen : closing ? kSendClose : kSendAccept);
  const int shift = std::min(c.retries++, kOpenBackoffMax);
  c.retry_at = now + config_.rto_min * (int64_t{1} << shift);
}

void Endpoint::StartClosing(Time now, Connection& c) {
  c.state = ConnectionState::kClosing;
  c.confirmed = true;  // the close takes the place of the accept
  c.give_up_at = now + config_.open_timeout;
  c.retries = 0;
  Retry(now, c);
}

void Endpoint::HandleConnectionTimer(Time now, Connection& c) {
  if (c.give_up_at <= now) {
    if (c.state == ConnectionState::kOpening) return End(c, Event::kFailed, Cause::kNeverAnswered);
    ReplyAbort(c.remote, c.peer, kOurDecision);
    return End(c, Event::kFailed, Cause::kStoppedAnswering);
  }
  if (c.retry_at <= now) Retry(now, c);
  if (c.established()) {
    c.receiver.HandleTimer(now);
    if (!c.sender.HandleTimer(now)) {
      ReplyAbort(c.remote, c.peer, kOurDecision);
      return End(c, Event::kFailed, Cause::kStoppedAnswering);
    }
  }
  AfterEvent(now, c);
}

}  // namespace weir
