// Endpoint: connections from their opening to their end.
#include <algorithm>

#include "datapath/endpoint.h"

namespace weir {
namespace {

constexpr int kSizesTried = 8;     // in the time that an open may take
constexpr int kRetryShiftMax = 8;  // the interval of opens and closes grows to 2^8 times the first

template <size_t N>
std::array<char, N> Padded(const char* text) {
  std::array<char, N> out{};
  for (size_t i = 0; i < N && text[i] != '\0'; ++i) out[i] = text[i];
  return out;
}

}  // namespace

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
  c.id = WireId::Of(++c.uses, config_.worker, c.index);
  if (c.id == WireId{}) c.id = WireId::Of(++c.uses, config_.worker, c.index);
  c.peer = WireId{};
  c.remote = remote;
  c.binding = &binding;
  c.Renew(shared_);
  c.active = c.confirmed = false;
  c.credit = {};
  c.retries = c.shrinks = 0;
  c.control = 0;
  c.in_band = InBand::kNone;
  c.payload_crc = c.full_size = false;
  c.scheduler = 0;
  c.retry_at = c.give_up_at = Time::Never();
  // Packet numbers start near the wrap, so that it is always exercised.
  const uint64_t random = Mix64(config_.seed ^ Mix64(c.id.value));
  c.first_psn = Psn(0u - static_cast<uint32_t>(random % 512));
  // Which worker of the peer takes an open does not matter.
  c.writer =
      FrameWriter(config_.address, remote, EntropyTo(remote), static_cast<uint32_t>(random >> 40));
  c.control_path = static_cast<PathId>((random >> 48) % binding.paths);
  c.payload_max = config_.payload_max;
  return &c;
}

// One for each destination, so that a path means the same to all connections there.
uint16_t Endpoint::EntropyTo(const NetAddress& remote) const {
  uint64_t hash = config_.seed;
  for (const uint8_t byte : remote.ip) hash = Mix64(hash + byte);
  return static_cast<uint16_t>(hash);
}

FlowInfo Endpoint::FlowOf(const Connection& c) const {
  const uint32_t mtu = c.payload_max + DataOverhead(c.remote.v6, c.in_band);
  return {.mtu = Bytes(mtu),
          .line_rate = config_.line_rate,
          .base_rtt = config_.base_rtt,
          .max_queue = config_.max_queue,
          .trimming = config_.trimming,
          .credit = c.binding->cc->receiver_half != nullptr,
          .seed = Mix64(config_.seed ^ (uint64_t{c.id.value} << 20))};
}

LossRules Endpoint::RulesOf(const Connection& c) const {
  const Reordering reordering = c.binding->reordering();
  const bool reorders = reordering != Reordering::kNever;
  LossRules rules;
  rules.by_order = reordering != Reordering::kAlways;
  rules.reorder_window = config_.reorder_window;
  if (rules.reorder_window == Duration(0)) {
    const Duration queue = std::max(config_.max_queue, config_.base_rtt);
    rules.reorder_window = reorders ? queue : config_.base_rtt / 4;
  }
  rules.rto_min = config_.rto_min;
  rules.retries_max = config_.retries_max;
  rules.patience = config_.patience;
  rules.keepalive = config_.keepalive;
  return rules;
}

OpenHeader Endpoint::ProposalOf(const Connection& c) const {
  OpenHeader h;
  h.type = c.active ? PacketType::kOpen : PacketType::kAccept;
  if (c.active ? config_.payload_crc : c.payload_crc) h.flags |= OpenHeader::kPayloadCrc;
  h.Reserve(c.active ? InBandFor(c.binding->cc->needs) : c.in_band);
  if (c.full_size) h.flags |= OpenHeader::kFullSize;
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
  h.scheduler = duty.scheduler;
  h.algorithm = Padded<16>(c.binding->cc->name);
  h.policy = Padded<16>(c.binding->lb->name);
  return h;
}

// Both ends run it with the other's proposal.
void Endpoint::Establish(Time now, Connection& c, const OpenHeader& h) {
  c.peer = h.from;
  c.writer.SetWorker(c.peer.worker());
  c.payload_max = std::min(c.payload_max, h.payload_max);
  c.payload_crc = config_.payload_crc && (h.flags & OpenHeader::kPayloadCrc) != 0;
  c.in_band = h.in_band();
  c.scheduler = h.scheduler;
  c.duty_asked = c.binding->cc->duty(FlowOf(c), c.binding->cc_config);
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
                 .overhead = DataOverhead(c.remote.v6, c.in_band),
                 .window_limit = std::min<uint32_t>(h.window - 64u, TxWindow::kUsable),
                 .receives = h.receives,
                 .in_band = c.in_band,
                 .payload_crc = c.payload_crc,
                 .health = HealthOf(c),
                 .credit_held = &credit_held_});
}

// Nothing is kept of a destination whose policies do not ask.
PathHealth* Endpoint::HealthOf(const Connection& c) {
  if (!c.binding->lb->uses_health) return nullptr;
  for (Destination& d : destinations_) {
    if (d.ip == c.remote.ip && d.paths == c.binding->paths) return &d.health;
  }
  const Duration grace = 2 * config_.base_rtt + config_.max_queue;
  destinations_.push_back({c.remote.ip, c.binding->paths, PathHealth(c.binding->paths, grace)});
  return &destinations_.back().health;
}

// With smaller packets. Nobody here has heard of the connection yet, so nothing is lost.
void Endpoint::Restart(Time now, Connection& c, const OpenHeader& h) {
  const Time retry_at = c.retry_at;
  const Time give_up_at = c.give_up_at;
  c.sender.Release();
  c.Renew(shared_);
  Establish(now, c, h);
  c.retry_at = retry_at;
  c.give_up_at = give_up_at;
}

void Endpoint::End(Connection& c, Event event, Cause cause, uint32_t detail) {
  // A connection that never opened has not used its first completion; one that a peer opened and
  // never confirmed uses none.
  if (!c.confirmed) shared_.completions.Cancel();
  if (c.active || c.confirmed) {
    shared_.completions.Push(
        {.event = event, .cause = cause, .connection = c.id, .detail = detail});
  } else {
    shared_.completions.Cancel();
  }
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
  // No answer to opens for a while: perhaps there is a link on the way that they do not fit. A peer
  // that is merely busy answers before.
  const Duration waited = now - (c.give_up_at - config_.open_timeout);
  if (opening && c.full_size && waited >= (c.shrinks + 1) * config_.open_timeout / kSizesTried) {
    c.payload_max = CommonPayload(c.payload_max - 1u);
    ++c.shrinks;
  }
  const int shift = std::min(c.retries++, kRetryShiftMax);
  c.retry_at = now + config_.rto_min * (int64_t{1} << shift);
}

void Endpoint::StartClosing(Time now, Connection& c) {
  c.state = ConnectionState::kClosing;
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
