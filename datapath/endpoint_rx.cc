// Endpoint: frames in.
#include <algorithm>
#include <cstring>
#include <optional>

#include "datapath/endpoint.h"

namespace weir {

void Endpoint::HandleRx(Time now, std::span<const Frame> frames) {
  now_ = now;
  shared_.full_bursts = frames.size() == kBurst ? shared_.full_bursts + 1 : 0;
  if (frames.empty()) return;
  NoteStall(now, frames.front().rx_time - frames.front().rx_gap);
  for (const Frame& frame : frames) {
    // What lies behind a frame that has waited has come at line rate at most.
    const Duration waited = std::max(Duration(0), now - frame.rx_time);
    rx_wait_ += (waited - rx_wait_) / kRxWaitWeight;
    HandleFrame(now, frame);
  }
}

uint8_t Endpoint::rx_level() const {
  const Bytes held = config_.line_rate * rx_wait_;
  return static_cast<uint8_t>(std::min<int64_t>(31, 32 * held.count() / config_.rx_buffer.count()));
}

// Nothing if the frame may have waited for long: what a peer made of it would be no round trip.
std::optional<Time> Endpoint::ArrivalOf(const Frame& frame) const {
  if (frame.rx_gap > config_.stall_threshold) return std::nullopt;
  return frame.rx_time;
}

void Endpoint::NoteStall(Time now, Time since) {
  if (now - since <= config_.stall_threshold) return;
  if (since >= shared_.stalled_until) ++shared_.counters.host_stalls;  // else it is the same one
  shared_.stalled_until = now;
}

bool Endpoint::CountBad(WireError error) {
  switch (error) {
    case WireError::kNone:
      return false;
    case WireError::kChecksum:
      ++shared_.counters.bad_checksums;
      break;
    case WireError::kVersion:
      ++shared_.counters.bad_versions;
      break;
    default:
      ++shared_.counters.bad_frames;
      break;
  }
  return true;
}

void Endpoint::HandleFrame(Time now, const Frame& frame) {
  FrameInfo info;
  const WireError error = ReadFrame({frame.data, frame.size}, info);
  if (CountBad(error)) {
    // Whoever opens in another version learns which one is spoken here.
    if (error == WireError::kVersion && info.type == PacketType::kOpen) HandleOpen(now, info);
    return;
  }
  switch (info.type) {
    case PacketType::kData:
      return HandleData(now, frame, info);
    case PacketType::kAck:
      return HandleAck(now, frame, info);
    case PacketType::kTrimNotice:
      return HandleTrimNotice(now, info);
    case PacketType::kOpen:
      return HandleOpen(now, info);
    case PacketType::kAccept:
      return HandleAccept(now, info);
    case PacketType::kRefuse:
      return HandleRefuse(info);
    case PacketType::kCnp:
    case PacketType::kCredit:
    case PacketType::kCreditRequest:
    case PacketType::kProbe:
    case PacketType::kClose:
    case PacketType::kCloseAck:
    case PacketType::kAbort:
    case PacketType::kPathProbe:
    case PacketType::kProbeAnswer:
      return HandleControl(now, frame, info);
  }
  CountBad(WireError::kField);
}

// The open connection that a frame is for, or nullptr.
Connection* Endpoint::FindReceiver(WireId to) {
  Connection* c = FindLive(to);
  if (c == nullptr || !c->established()) {
    ++shared_.counters.unknown_connections;
    return nullptr;
  }
  Confirm(*c);
  return c;
}

// The peer has named our id: from here on the application may know of the connection.
void Endpoint::Confirm(Connection& c) {
  if (c.confirmed) return;
  c.confirmed = true;
  c.retry_at = c.give_up_at = Time::Never();
  c.retries = 0;
  shared_.completions.Push({.event = Event::kAccepted, .connection = c.id});
}

void Endpoint::HandleData(Time now, const Frame& frame, const FrameInfo& info) {
  DataHeader h;
  if (CountBad(Read(info.packet, h))) return;
  Connection* c = FindReceiver(h.to);
  // Without a connection id of the sender an abort could not be matched: stay silent, it will time
  // out, or its probe, which carries one, will be answered.
  if (c == nullptr) return;
  if (info.trimmed) {
    HandleTrimmed(*c, h, info);
  } else {
    const size_t header = kDataHeaderBytes + InBandBytes(h.in_band());
    std::span<const std::byte> payload(frame.payload, frame.payload_size);
    if (frame.payload_size == 0) payload = info.packet.subspan(header);
    if (payload.size() < h.payload) {
      CountBad(WireError::kShort);
      return;
    }
    payload = payload.first(h.payload);
    if ((h.flags & DataHeader::kPayloadCrc) != 0 && payload.data() != nullptr &&
        Crc32c(0, payload) != h.payload_crc) {
      CountBad(WireError::kChecksum);
      return;
    }
    const Cause cause = c->receiver.HandleData(now, ArrivalOf(frame), h, info, payload);
    if (cause != Cause::kNone) {
      ReplyAbort(c->remote, c->peer, kOurDecision);
      return End(*c, Event::kFailed, cause);
    }
  }
  c->sender.HeardFromPeer(now);
  if (scheduler_ != nullptr && c->scheduler != 0) {
    const Bytes wire(h.payload + DataOverhead(c->remote.v6, c->in_band));
    if (info.trimmed) c->credit.Trimmed(now, wire, config_.base_rtt);
    scheduler_->OnData({.now = now,
                        .flow = c->index,
                        .size = wire,
                        .marked = info.marked,
                        .trimmed = info.trimmed,
                        .piles_up = (h.flags & DataHeader::kCreditPilesUp) != 0});
    Demand(now, *c, h.demand);
  }
  AfterEvent(now, *c);
}

void Endpoint::HandleTrimmed(Connection& c, const DataHeader& h, const FrameInfo& info) {
  ++shared_.counters.trims_received;
  shared_.counters.marks_received += info.marked ? 1 : 0;
  const uint32_t index = notices_.Take();
  if (index == Pool<Notice>::kNone) {
    ++shared_.counters.control_dropped;
    return;
  }
  Notice& notice = notices_[index];
  notice.id = c.id;
  notice.header = {.to = c.peer, .psn = h.psn, .attempt = h.attempt};
  if (info.trimmed_last_hop) notice.header.flags |= TrimNotice::kLastHop;
  if (info.marked) notice.header.flags |= TrimNotice::kMarked;
  notices_due_.PushBack(notices_, index);
}

void Endpoint::HandleAck(Time now, const Frame& frame, const FrameInfo& info) {
  AckHeader h;
  if (CountBad(Read(info.packet, h))) return;
  Connection* c = FindReceiver(h.to);
  if (c == nullptr) return;
  c->sender.HandleAck(now, frame.rx_time, h);
  AfterEvent(now, *c);
}

void Endpoint::HandleTrimNotice(Time now, const FrameInfo& info) {
  TrimNotice h;
  if (CountBad(Read(info.packet, h))) return;
  Connection* c = FindReceiver(h.to);
  if (c == nullptr) return;
  c->sender.HandleTrim(now, h);
  AfterEvent(now, *c);
}

void Endpoint::HandleControl(Time now, const Frame& frame, const FrameInfo& info) {
  ControlHeader h;
  if (CountBad(Read(info.packet, h))) return;
  if (h.type == PacketType::kClose) return HandleClose(info, h);
  Connection* c = FindReceiver(h.to);
  if (c == nullptr) {
    // Never answer an abort or a close-ack: two ends without a connection would go on for ever.
    const bool answer = h.type != PacketType::kAbort && h.type != PacketType::kCloseAck;
    const bool unknown = FindLive(h.to) == nullptr && h.from.value != 0;
    if (answer && unknown) ReplyAbort(info.from, h.from, kUnknownHere);
    return;
  }
  switch (h.type) {
    case PacketType::kCnp:
      c->sender.HandleCnp(now);
      break;
    case PacketType::kCredit:
      c->sender.HandleCredit(now, h.value);
      break;
    case PacketType::kCreditRequest:
      Demand(now, *c, h.value);
      QueueControl(*c, kSendCredit);  // what was granted before may have been lost
      break;
    case PacketType::kProbe:
      c->receiver.HandleProbe(frame.rx_time, h.value);
      break;
    case PacketType::kPathProbe:
      shared_.counters.marks_received += info.marked ? 1 : 0;
      QueueReply(
          {.to = info.from,
           .control = {.type = PacketType::kProbeAnswer,
                       .flags = info.marked || info.trimmed ? ControlHeader::kMarked : uint8_t{0},
                       .to = c->peer,
                       .from = c->id,
                       .value = h.value}});
      break;
    case PacketType::kProbeAnswer:
      c->sender.HandleProbeAnswer(now, frame.rx_time, h.value,
                                  (h.flags & ControlHeader::kMarked) != 0);
      break;
    case PacketType::kCloseAck:
      if (c->state == ConnectionState::kClosing) End(*c, Event::kClosed, Cause::kNone);
      return;
    case PacketType::kAbort: {
      const bool unknown = h.value == kUnknownHere;
      // A peer that has closed already knows us no more; its answer to our close is on its way.
      if (unknown && c->state == ConnectionState::kClosing) {
        return End(*c, Event::kClosed, Cause::kNone);
      }
      return End(*c, Event::kFailed, unknown ? Cause::kUnknownToPeer : Cause::kAbortedByPeer);
    }
    default:
      return;
  }
  AfterEvent(now, *c);
}

void Endpoint::HandleClose(const FrameInfo& info, const ControlHeader& h) {
  // Answered without a connection, too: our first answer may have been lost.
  QueueReply(
      {.to = info.from, .control = {.type = PacketType::kCloseAck, .to = h.from, .from = h.to}});
  Connection* c = FindLive(h.to);
  if (c == nullptr || !c->established()) return;
  Confirm(*c);
  // When both close at once, each sees its own close succeed.
  const bool ours = c->state == ConnectionState::kClosing;
  End(*c, Event::kClosed, ours ? Cause::kNone : Cause::kClosedByPeer);
}

// The receiver half that the peer's algorithm needs runs here.
bool Endpoint::HasScheduler(uint16_t id) const {
  return id == 0 || (config_.credit != nullptr && config_.credit->id == id);
}

RefuseCause Endpoint::CheckOpen(const OpenHeader& h, uint32_t& detail) const {
  if (!config_.listen) return RefuseCause::kNotListening;
  if (HasScheduler(h.scheduler)) return RefuseCause{};
  detail = Signals(Signal::kCredit).bits();
  return RefuseCause::kFeature;
}

void Endpoint::HandleOpen(Time now, const FrameInfo& info) {
  OpenHeader h;
  const bool other_version = info.version != kWireVersion;
  if (CountBad(Read(info.packet, h)) || h.type != PacketType::kOpen) return;
  Reply refusal{.to = info.from, .refuse = true, .refusal = {.to = h.from, .nonce = h.nonce}};
  if (other_version) {
    refusal.refusal.cause = RefuseCause::kVersion;
    refusal.refusal.detail = kWireVersion;
    return QueueReply(refusal);
  }
  const uint32_t bucket = HashOf(info.from, h.from);
  for (uint32_t i = by_peer_[bucket]; i != kNil; i = connections_[i].hash_next) {
    Connection& c = connections_[i];
    if (c.peer != h.from || c.remote.ip != info.from.ip || c.nonce != h.nonce) continue;
    // A repeated open: our accept was lost, or one of the two was too long for the way.
    if (!c.confirmed && h.payload_max < c.payload_max) Restart(now, c, h);
    return QueueControl(c, kSendAccept);
  }
  refusal.refusal.cause = CheckOpen(h, refusal.refusal.detail);
  if (refusal.refusal.cause != RefuseCause{}) return QueueReply(refusal);
  Connection* c = Allocate(info.from, *config_.binding);
  if (c == nullptr) {
    refusal.refusal.cause = RefuseCause::kNoRoom;
    return QueueReply(refusal);
  }
  c->nonce = h.nonce;
  c->full_size = (h.flags & OpenHeader::kFullSize) != 0;
  Establish(now, *c, h);
  c->hash_next = by_peer_[bucket];
  by_peer_[bucket] = c->index;
  c->give_up_at = now + config_.open_timeout;
  Retry(now, *c);
  UpdateDeadline(now, *c);
}

void Endpoint::HandleAccept(Time now, const FrameInfo& info) {
  OpenHeader h;
  if (CountBad(Read(info.packet, h)) || h.type != PacketType::kAccept) return;
  Connection* c = FindLive(h.to);
  if (c == nullptr || c->nonce != h.nonce) {
    ++shared_.counters.unknown_connections;
    return ReplyAbort(info.from, h.from, kUnknownHere);
  }
  if (c->state != ConnectionState::kOpening) {
    // Repeated: what confirmed it was lost. Of two that a repeated open has made, one is too many.
    if (c->peer == h.from) return QueueControl(*c, kSendAck);
    return ReplyAbort(info.from, h.from, kUnknownHere);
  }
  uint32_t missing = HasScheduler(h.scheduler) ? 0 : Signals(Signal::kCredit).bits();
  const InBand in_band = InBandFor(c->binding->cc->needs);
  if (in_band != InBand::kNone && in_band != h.in_band()) {
    const Signal signal = in_band == InBand::kTelemetry ? Signal::kTelemetry : Signal::kPathLoad;
    missing |= Signals(signal).bits();
  }
  if (missing != 0) {
    ReplyAbort(info.from, h.from, kOurDecision);
    return End(*c, Event::kFailed, Cause::kFeatureMismatch, missing);
  }
  Establish(now, *c, h);
  c->confirmed = true;
  shared_.completions.Push({.event = Event::kOpened, .connection = c->id});
  QueueControl(*c, kSendAck);  // tells the peer that its accept has arrived
  AfterEvent(now, *c);
}

void Endpoint::HandleRefuse(const FrameInfo& info) {
  RefuseHeader h;
  if (CountBad(Read(info.packet, h))) return;
  Connection* c = FindLive(h.to);
  if (c == nullptr || c->state != ConnectionState::kOpening || c->nonce != h.nonce) return;
  Cause cause = Cause::kNotListening;
  switch (h.cause) {
    case RefuseCause::kNotListening:
      break;
    case RefuseCause::kNoRoom:
      cause = Cause::kNoRoom;
      break;
    case RefuseCause::kVersion:
      cause = Cause::kVersionMismatch;
      break;
    case RefuseCause::kFeature:
      cause = Cause::kFeatureMismatch;
      break;
  }
  End(*c, Event::kFailed, cause, h.detail);
}

// --- Credit ---

void Endpoint::Demand(Time now, Connection& c, uint32_t demand) {
  if (scheduler_ == nullptr || c.scheduler == 0) return;
  scheduler_->OnDemand(now, c.index, c.credit.Ask(now, demand));
  PumpGrants(now);
}

void Endpoint::PumpGrants(Time now) {
  const uint32_t timer = 2 * config_.connections_max;
  for (size_t i = 0; i < kBurst; ++i) {
    const Grant grant = scheduler_->NextGrant(now);
    if (grant.flow == kNoFlow) {
      wheel_.Arm(timer, grant.again);
      return;
    }
    Connection& c = connections_[grant.flow];
    c.credit.Grant(grant.bytes);
    QueueControl(c, kSendCredit);
  }
  wheel_.Arm(timer, now);
}

}  // namespace weir
