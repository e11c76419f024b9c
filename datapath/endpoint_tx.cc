// Endpoint: timers, and frames out.
#include <algorithm>

#include "datapath/endpoint.h"

namespace weir {

// --- After an event ---

// Whatever happened to a connection: note what it can send now and when it must be looked at again.
void Endpoint::AfterEvent(Time now, Connection& c) {
  if (!c.established()) return UpdateDeadline(now, c);
  if (c.state == ConnectionState::kDraining && c.sender.idle()) StartClosing(now, c);
  uint32_t bits = 0;
  if (c.receiver.ack_due()) bits |= kSendAck;
  if (c.receiver.cnp_due()) bits |= kSendCnp;
  if (c.sender.probe_due()) bits |= kSendProbe;
  if (c.sender.path_probe_due()) bits |= kSendPathProbe;
  if (bits != 0) QueueControl(c, bits);
  if (!c.sender.idle()) Wake(now, c);
  UpdateDeadline(now, c);
}

// Queues the connection if it can send now, or sets its pacer.
void Endpoint::Wake(Time now, Connection& c) {
  if (c.in_ready) return;
  const Sender::Turn turn = c.sender.NextTurn(now);
  if (turn.send) {
    QueueReady(c);
  } else if (turn.at != Time::Never()) {
    wheel_.Arm(2 * c.index + 1, turn.at);
  } else if (c.sender.WantsCreditRequest(now)) {
    QueueControl(c, kSendCreditRequest);
  }
}

void Endpoint::UpdateDeadline(Time now, Connection& c) {
  Time next = std::min(c.retry_at, c.give_up_at);
  if (c.established()) {
    next = std::min({next, c.sender.NextDeadline(now), c.receiver.NextDeadline()});
  }
  // A deadline that moved away is looked at when the old one comes: cheaper than moving it with
  // every acknowledgement.
  const uint32_t timer = 2 * c.index;
  // One that has passed comes a nanosecond late, so that each timer is handled once in a poll.
  next = std::max(next, now + Nanos(1));
  if (next < wheel_.deadline(timer)) wheel_.Arm(timer, next);
}

void Endpoint::QueueControl(Connection& c, uint32_t bits) {
  c.control |= bits;
  if (c.in_control) return;
  c.in_control = true;
  c.control_next = kNil;
  (control_tail_ == kNil ? control_head_ : connections_[control_tail_].control_next) = c.index;
  control_tail_ = c.index;
  ++control_count_;
}

void Endpoint::QueueReady(Connection& c) {
  if (c.in_ready) return;
  wheel_.Disarm(2 * c.index + 1);  // the pacer's time may have changed
  c.in_ready = true;
  c.ready_next = kNil;
  (ready_tail_ == kNil ? ready_head_ : connections_[ready_tail_].ready_next) = c.index;
  ready_tail_ = c.index;
}

void Endpoint::QueueReply(const Reply& reply) {
  if (reply_tail_ - reply_head_ == kReplies) {
    ++shared_.counters.control_dropped;
    return;
  }
  replies_[reply_tail_++ % kReplies] = reply;
}

void Endpoint::ReplyAbort(const NetAddress& to, WireId their_id, uint32_t why) {
  QueueReply({.to = to, .control = {.type = PacketType::kAbort, .to = their_id, .value = why}});
}

// --- Timers ---

void Endpoint::HandleTimers(Time now) {
  now_ = now;
  const Time earliest = wheel_.Earliest();
  if (earliest > now) return;
  NoteStall(now, earliest);
  const uint32_t grants = 2 * config_.connections_max;
  for (TimerWheel::Id id = wheel_.PopDue(now); id != TimerWheel::kNone; id = wheel_.PopDue(now)) {
    if (id == grants) {
      PumpGrants(now);
      if (wheel_.deadline(grants) <= now) return;  // the rest next time: a poll stays short
      continue;
    }
    Connection& c = connections_[id / 2];
    if (id % 2 == 1) {
      QueueReady(c);
    } else {
      HandleConnectionTimer(now, c);
    }
  }
}

Time Endpoint::NextWakeup(Time now) const {
  if (control_count_ > 0 || !notices_due_.empty() || reply_head_ != reply_tail_) return now;
  Time next = wheel_.Earliest();
  if (ready_head_ != kNil) next = std::min(next, port_.free_at() - config_.tx_slack);
  return std::max(now, next);
}

// --- Frames out ---

size_t Endpoint::Due(Time now) const {
  const size_t control = control_count_ + notices_.used() + (reply_tail_ - reply_head_);
  const Duration room = now + config_.tx_slack - port_.free_at();
  if (ready_head_ == kNil || room < Duration(0)) return std::min(control, kBurst);
  const int64_t packets = std::min(room, config_.tx_slack) / full_packet_ + 1;
  return std::min(control + static_cast<size_t>(packets), kBurst);
}

void Endpoint::FinishControl(Time now, PathId path, uint32_t size, Frame& frame) {
  frame.size = size;
  frame.path = path;
  frame.cls = FrameClass::kControl;
  port_.Book(now, Bytes(size + frame.payload_size + kFcsBytes));
}

uint32_t Endpoint::WriteOpen(const OpenHeader& h, const Connection& c, Frame& frame) {
  if ((h.flags & OpenHeader::kFullSize) != 0) {
    frame.payload = nullptr;
    frame.payload_size = h.payload_max + kDataHeaderBytes + InBandBytes(h.in_band()) - kOpenBytes;
  }
  return c.writer.Write(h, c.control_path, frame.data, frame.payload_size);
}

size_t Endpoint::PollTx(Time now, std::span<Frame> out) {
  size_t n = PollReplies(now, out);
  n += PollControl(now, out.subspan(n));
  n += PollDataFrames(now, out.subspan(n));
  for (Frame& frame : out.subspan(n)) frame.size = 0;
  return n;
}

// A connection's control packets have a path of their own. No single path can silence it: one that
// sprays sprays them, too; another moves on when it seems that they do not arrive.
PathId Endpoint::ControlPath(Connection& c) {
  const bool sprays = c.binding->reordering() == Reordering::kAlways;
  if (sprays || c.ControlUnheard()) {
    c.control_path = static_cast<PathId>((c.control_path + 1u) % c.binding->paths);
  }
  return c.control_path;
}

size_t Endpoint::PollReplies(Time now, std::span<Frame> out) {
  size_t n = 0;
  for (; n < out.size() && reply_head_ != reply_tail_; ++n, ++reply_head_) {
    const Reply& reply = replies_[reply_head_ % kReplies];
    const WireId peer = reply.refuse ? reply.refusal.to : reply.control.to;
    const FrameWriter writer(config_.address, reply.to, static_cast<uint16_t>(reply_head_),
                             peer.worker());
    const uint32_t size = reply.refuse ? writer.Write(reply.refusal, 0, out[n].data)
                                       : writer.Write(reply.control, 0, out[n].data);
    FinishControl(now, 0, size, out[n]);
  }
  return n;
}

size_t Endpoint::PollControl(Time now, std::span<Frame> out) {
  size_t n = 0;
  while (n < out.size() && !notices_due_.empty()) {
    const uint32_t index = notices_due_.PopFront(notices_);
    const Notice notice = notices_[index];
    notices_.Give(index);
    Connection* c = FindLive(notice.id);
    if (c == nullptr) continue;
    const PathId path = ControlPath(*c);
    FinishControl(now, path, c->writer.Write(notice.header, path, out[n].data), out[n]);
    ++n;
  }
  while (n < out.size() && control_head_ != kNil) {
    Connection& c = connections_[control_head_];
    if (c.control == kSendPathProbe) {
      WritePathProbe(now, c, out[n++]);
    } else if (c.control != 0) {
      const Time departure = std::max(now, port_.free_at());
      const PathId path = ControlPath(c);
      FinishControl(now, path, WriteControl(now, departure, c, out[n]), out[n]);
      ++n;
    }
    if (c.control != 0) continue;
    control_head_ = c.control_next;
    if (control_head_ == kNil) control_tail_ = kNil;
    c.in_control = false;
    --control_count_;
    if (c.live()) UpdateDeadline(now, c);
  }
  return n;
}

// On a path of its own, in the class of data.
void Endpoint::WritePathProbe(Time now, Connection& c, Frame& frame) {
  c.control &= ~static_cast<uint32_t>(kSendPathProbe);
  PathId path = 0;
  const uint32_t number = c.sender.PollPathProbe(std::max(now, port_.free_at()), path);
  const ControlHeader h{
      .type = PacketType::kPathProbe, .to = c.peer, .from = c.id, .value = number};
  FinishControl(now, path, c.writer.Write(h, path, frame.data), frame);
  frame.cls = FrameClass::kData;
}

// Writes the most urgent control packet and takes its bit.
uint32_t Endpoint::WriteControl(Time now, Time departure, Connection& c, Frame& frame) {
  std::byte* out = frame.data;
  const uint32_t others = c.control & ~static_cast<uint32_t>(kSendPathProbe);
  const uint32_t bit = others & (0u - others);
  c.control &= ~bit;
  ControlHeader h{.to = c.peer, .from = c.id};
  switch (bit) {
    case kSendOpen:
    case kSendAccept:
      return WriteOpen(ProposalOf(c), c, frame);
    case kSendAck: {
      AckHeader ack;
      ack.to = c.peer;
      ack.credit = c.credit.granted();
      ack.receiver_level = rx_level();
      c.receiver.PollAck(departure, ack);
      if (c.receiver.ack_due()) c.control |= kSendAck;
      c.control &= ~static_cast<uint32_t>(kSendCredit);  // the acknowledgement carries it
      return c.writer.Write(ack, c.control_path, out);
    }
    case kSendCnp:
      c.receiver.TakeCnp();
      ++shared_.counters.cnps_sent;
      h.type = PacketType::kCnp;
      break;
    case kSendCredit:
      ++shared_.counters.credits_sent;
      h.type = PacketType::kCredit;
      h.value = c.credit.granted();
      break;
    case kSendCreditRequest:
      h.type = PacketType::kCreditRequest;
      h.value = c.sender.PollCreditRequest(now);
      break;
    case kSendProbe:
      h.type = PacketType::kProbe;
      h.value = c.sender.PollProbe(departure);
      break;
    case kSendClose:
      h.type = PacketType::kClose;
      break;
    default:
      WEIR_DCHECK(false);
  }
  return c.writer.Write(h, c.control_path, out);
}

// Connections take turns, a packet each, while the port's queue is short.
size_t Endpoint::PollDataFrames(Time now, std::span<Frame> out) {
  size_t n = 0;
  while (n < out.size() && ready_head_ != kNil && port_.free_at() - config_.tx_slack <= now) {
    Connection& c = connections_[ready_head_];
    ready_head_ = c.ready_next;
    if (ready_head_ == kNil) ready_tail_ = kNil;
    c.in_ready = false;
    if (!c.established()) continue;
    if (c.sender.NextTurn(now).send) {
      const Time departure = std::max(now, port_.free_at());
      const Bytes wire = c.sender.PollData(now, departure, c.writer, c.peer, out[n++]);
      port_.Book(now, wire);
    }
    Wake(now, c);
    UpdateDeadline(now, c);
  }
  return n;
}

}  // namespace weir
