#include "datapath/sender.h"

#include <algorithm>

namespace weir {
namespace {

// Packets of one path that must have overtaken before order alone says "lost". Source: the
// duplicate threshold of RFC 5681 section 3.2.
constexpr uint32_t kOrderTolerance = 3;
// A pacer that was served late makes up for at most this much.
constexpr Duration kPaceCatchUp = Micros(1);
constexpr int kBackoffMax = 6;  // the time-out grows to 2^6 times its first value
// A probe goes out so many smoothed round trips after the last packet. Source: RFC 8985
// section 7.2. Departure: acknowledgements of earlier packets do not put it off.
constexpr int kProbeRtts = 2;
constexpr int kProbeBackoffMax = 10;  // the interval grows to 2^10 times that

uint32_t CeilDiv(uint64_t a, uint64_t b) { return static_cast<uint32_t>((a + b - 1) / b); }

PathEvent EventOf(LossCause cause) {
  switch (cause) {
    case LossCause::kTrim:
      return PathEvent::kTrimmed;
    case LossCause::kTrimLastHop:
      return PathEvent::kTrimmedLastHop;
    default:
      return PathEvent::kLost;
  }
}

}  // namespace

struct Sender::AckWork {
  Time now{};
  Time arrived{};
  const AckHeader* ack = nullptr;
  Bytes acked{};
  Bytes marked{};
  Bytes spurious{};
  Duration rtt{};  // 0: no sample
  PathId rtt_path = 0;
  Psn rtt_psn{};
  bool round_over = false;
};

void Sender::Open(Time now, Pool<TxPage>& pages, const SenderSetup& setup) {
  id_ = setup.id;
  binding_ = setup.binding;
  flow_ = setup.flow;
  loss_ = setup.loss;
  payload_max_ = setup.payload_max;
  overhead_ = setup.overhead;
  window_limit_ = setup.window_limit;
  receives_ = setup.receives;
  telemetry_ = setup.telemetry;
  payload_crc_ = setup.payload_crc;
  window_.Reset(pages, setup.first_psn);
  rtt_ = RttEstimator(flow_.base_rtt, loss_.rto_min);
  reorder_window_ = loss_.reorder_window;
  last_progress_ = last_sent_ = idle_since_ = now;
  ack_every_ = binding_->cc->duty(flow_, binding_->cc_config).ack_every;
  lb_.Emplace(*binding_->lb,
              LbInfo{.paths = binding_->paths,
                     .mtu = flow_.mtu,
                     .bdp = flow_.bdp(),
                     .base_rtt = flow_.base_rtt,
                     .seed = Mix64(flow_.seed)},
              binding_->lb_config);
  cc_.Emplace(*binding_->cc, flow_, binding_->cc_config);
  RefreshAllowance();
}

void Sender::Release() {
  while (open_head_ != Pool<TxMessage>::kNone) {
    shared_.completions.Cancel();
    Forget(open_head_);
  }
  window_.ReleaseAll();
  in_flight_ = Bytes(0);
  lost_bytes_ = unsent_bytes_ = 0;
  unsent_pieces_ = 0;
  unsent_ = Pool<TxMessage>::kNone;
}

void Sender::Rebind(Time now, const Binding& binding, const LossRules& loss) {
  const Snapshot before = TakeSnapshot();
  binding_ = &binding;
  loss_ = loss;
  reorder_window_ = std::max(reorder_window_, loss.reorder_window);
  cc_timer_ = Time::Never();
  ack_every_ = binding.cc->duty(flow_, binding.cc_config).ack_every;
  cc_.Emplace(*binding.cc, flow_, binding.cc_config);
  cc_->Restore(before);
  lb_.Emplace(*binding.lb,
              LbInfo{.paths = binding.paths,
                     .mtu = flow_.mtu,
                     .bdp = flow_.bdp(),
                     .base_rtt = flow_.base_rtt,
                     .seed = Mix64(flow_.seed + static_cast<uint64_t>(now.nanos()))},
              binding.lb_config);
  RefreshAllowance();
}

Snapshot Sender::TakeSnapshot() const {
  Snapshot snapshot = cc_->snapshot();
  snapshot.smoothed_rtt = rtt_.smoothed();
  snapshot.min_rtt = rtt_.min();
  snapshot.in_flight = in_flight_;
  return snapshot;
}

// --- Posting ---

TxMessage* Sender::NewMessage(Time now, const std::byte* data, uint32_t length, uint64_t cookie) {
  if (shared_.tx_messages.exhausted() || !shared_.completions.Reserve()) return nullptr;
  const uint32_t index = shared_.tx_messages.Take();
  TxMessage& message = shared_.tx_messages[index];
  message = TxMessage{};
  message.number = next_message_++;
  message.data = data;
  message.length = length;
  message.pieces = std::max(1u, CeilDiv(length, payload_max_));
  message.cookie = cookie;
  message.next = Pool<TxMessage>::kNone;
  message.prev = open_tail_;
  if (open_tail_ == Pool<TxMessage>::kNone) {
    open_head_ = index;
  } else {
    shared_.tx_messages[open_tail_].next = index;
  }
  open_tail_ = index;
  if (unsent_ == Pool<TxMessage>::kNone) unsent_ = index;
  unsent_bytes_ += length;
  unsent_pieces_ += message.pieces;
  LeaveIdle(now);
  return &message;
}

bool Sender::Post(Time now, const SendRequest& request) {
  TxMessage* message = NewMessage(now, request.data, request.length, request.cookie);
  if (message == nullptr) return false;
  message->target = next_send_++;
  return true;
}

bool Sender::Post(Time now, const WriteRequest& request) {
  TxMessage* message = NewMessage(now, request.data, request.length, request.cookie);
  if (message == nullptr) return false;
  message->write = true;
  message->notify = request.notify;
  message->target = request.region;
  message->address = request.address;
  return true;
}

void Sender::Forget(uint32_t index) {
  const TxMessage& message = shared_.tx_messages[index];
  if (message.prev == Pool<TxMessage>::kNone) {
    open_head_ = message.next;
  } else {
    shared_.tx_messages[message.prev].next = message.next;
  }
  if (message.next == Pool<TxMessage>::kNone) {
    open_tail_ = message.prev;
  } else {
    shared_.tx_messages[message.next].prev = message.prev;
  }
  shared_.tx_messages.Give(index);
}

// --- Acknowledgements ---

void Sender::HandleAck(Time now, Time arrived, const AckHeader& ack) {
  // A cumulative number from before `una` is an old acknowledgement; one beyond what was sent is
  // none of ours.
  const int32_t ahead = Distance(window_.una(), ack.cumulative);
  if (ahead > static_cast<int32_t>(window_.span())) return;
  ++shared_.counters.acks_received;
  HeardFromPeer(now);
  if (static_cast<int32_t>(ack.receives - receives_) > 0) {
    receives_ = ack.receives;
    probes_in_row_ = 0;
  }

  AckWork work{.now = now, .arrived = arrived, .ack = &ack};
  MeasureRtt(arrived, ack, work);
  for (int w = 0; w < ack.words; ++w) {
    const uint64_t marked = ack.marked[w];
    const Psn base = ack.base + static_cast<uint32_t>(64 * w);
    window_.AckWord(base, ack.arrived[w], [&](Psn psn, TxRecord& record) {
      AckRecord(psn, record, (marked >> Distance(base, psn) & 1) != 0, work);
    });
  }
  window_.AckBelow(ahead > 0 ? ack.cumulative : window_.una(),
                   [&](Psn psn, TxRecord& record) { AckRecord(psn, record, false, work); });
  if (work.acked > Bytes(0)) TellAlgorithm(now, ack, work);
  HandleCredit(now, ack.credit);
  DetectLosses(now, arrived);
  EnterIdleIfDone(now);
}

// The echoed packet names one transmission, so the sample is good for retransmissions, too.
void Sender::MeasureRtt(Time arrived, const AckHeader& ack, AckWork& work) {
  if ((ack.flags & AckHeader::kProbeEcho) != 0) MeasureProbe(arrived, ack);
  if ((ack.flags & AckHeader::kEcho) == 0) return;
  const TxRecord* record = window_.Find(ack.echo);
  if (record == nullptr || record->state == TxState::kAcked || record->attempt != ack.attempt) {
    return;
  }
  const Duration rtt = arrived - record->sent - ack.hold;
  if (rtt <= Duration(0) || record->sent < shared_.stalled_until) {
    ++shared_.counters.rtt_rejected;
    return;
  }
  rtt_.Add(work.now, rtt);
  work.rtt = rtt;
  work.rtt_path = record->path;
  work.rtt_psn = ack.echo;
}

// A probe that came back is evidence like a packet sent when the probe was.
void Sender::MeasureProbe(Time arrived, const AckHeader& ack) {
  if (!probe_under_way_ || ack.echo.value() != probe_number_) return;
  const Duration rtt = arrived - probe_sent_ - ack.hold;
  if (rtt > Duration(0) && static_cast<int32_t>(probe_seq_ - rack_seq_) > 0) {
    rack_seq_ = probe_seq_;
    rack_sent_ = probe_sent_;
    rack_valid_ = rack_by_probe_ = true;
  }
  probe_under_way_ = false;
}

void Sender::AckRecord(Psn psn, TxRecord& record, bool marked, AckWork& work) {
  const Bytes size(record.size);
  const uint16_t slot = TxWindow::Slot(psn);
  bool spurious = record.state == TxState::kLost;  // and not yet sent again
  if (spurious) {
    window_.Remove(window_.lost, slot);
    lost_bytes_ -= record.size;
  } else {
    window_.Remove(window_.in_flight, slot);
    in_flight_ -= size;
    // Sent again: which transmission arrived? The echo tells, or it was too quick for the last.
    const bool echoed = psn == work.ack->echo && (work.ack->flags & AckHeader::kEcho) != 0;
    if (record.attempt > 0) {
      spurious = echoed ? work.ack->attempt != record.attempt
                        : work.arrived - record.sent < 3 * rtt_.min() / 4;
    }
  }
  if (spurious) {
    work.spurious += size;
    ++stats_.spurious;
    ++shared_.counters.spurious_retransmissions;
  } else {
    if (!rack_valid_ || static_cast<int32_t>(record.send_seq - rack_seq_) > 0) {
      rack_valid_ = true;
      rack_by_probe_ = false;
      rack_seq_ = record.send_seq;
      rack_sent_ = record.sent;
      rack_path_ = record.path;
    }
    if (static_cast<int32_t>(record.send_seq - round_end_) >= 0) work.round_over = true;
  }
  record.state = TxState::kAcked;
  work.acked += size;
  if (marked) {
    work.marked += size;
    ++shared_.counters.marks_echoed;
  }
  if (binding_->lb->learns && record.path < binding_->paths) {
    lb_->OnFeedback({.now = work.now,
                     .path = record.path,
                     .event = marked ? PathEvent::kMarked : PathEvent::kGood,
                     .rtt = psn == work.rtt_psn ? work.rtt : Duration(0)});
  }
  FinishPiece(record);
}

void Sender::FinishPiece(const TxRecord& record) {
  TxMessage& message = shared_.tx_messages[record.message];
  if (++message.pieces_acked < message.pieces) return;
  shared_.completions.Push({.event = Event::kSent,
                            .connection = id_,
                            .cookie = message.cookie,
                            .bytes = message.length});
  Forget(record.message);
}

void Sender::TellAlgorithm(Time now, const AckHeader& ack, const AckWork& work) {
  if (work.round_over) {
    ++round_;
    round_end_ = next_send_seq_;
  }
  timeouts_in_row_ = probes_in_row_ = 0;
  last_progress_ = now;
  stats_.acked_bytes += static_cast<uint64_t>(work.acked.count());
  stats_.marked_bytes += static_cast<uint64_t>(work.marked.count());
  if (work.spurious > Bytes(0)) {
    // The window in which we wait for stragglers was too short.
    reorder_window_ =
        std::min(reorder_window_ + rtt_.min() / 4, std::max(loss_.reorder_window, rtt_.smoothed()));
    cc_->OnSpurious({.now = now, .round = round_, .bytes = work.spurious});
  }
  cc_->OnAck(
      {.now = now,
       .round = round_,
       .newly_acked = work.acked,
       .newly_marked = work.marked,
       .in_flight = in_flight_,
       .rtt = work.rtt,
       .limit = limit_,
       .host_stall = work.rtt == Duration(0) && now < shared_.stalled_until + rtt_.smoothed(),
       .path = work.rtt_path,
       .telemetry = std::span(ack.telemetry.data(), ack.records)});
  RefreshAllowance();
}

// --- Losses ---

void Sender::HandleTrim(Time now, const TrimNotice& notice) {
  HeardFromPeer(now);
  TxRecord* record = window_.Find(notice.psn);
  if (record == nullptr || record->state != TxState::kInFlight ||
      record->attempt != notice.attempt) {
    return;
  }
  const bool last_hop = (notice.flags & TrimNotice::kLastHop) != 0;
  const LossCause cause = last_hop ? LossCause::kTrimLastHop : LossCause::kTrim;
  last_progress_ = now;
  ++shared_.counters.lost_by_trim;
  ++stats_.trims;
  DeclareLost(now, TxWindow::Slot(notice.psn), EventOf(cause));
  ReportLoss(now, Bytes(record->size), cause, (notice.flags & TrimNotice::kMarked) != 0);
}

// Walks the packets in flight from the one sent first, as long as they were sent before the newest
// acknowledged one. Source: RFC 8985 section 6.2 (time); the same path is first in, first out
// (order). `seen` <= now is when the latest acknowledgement came to the port.
void Sender::DetectLosses(Time now, Time seen) {
  rack_deadline_ = Time::Never();
  if (!rack_valid_) return;
  Bytes by_order{};
  Bytes by_time{};
  const Duration lag =
      rack_by_probe_ ? std::max(reorder_window_, flow_.max_queue) : reorder_window_;
  const Duration patience = std::max(rtt_.latest(), rtt_.smoothed()) + lag;
  while (!window_.in_flight.empty()) {
    const uint16_t slot = window_.in_flight.head;
    const TxRecord& record = window_.At(slot);
    const auto overtaken = static_cast<int32_t>(rack_seq_ - record.send_seq);
    if (overtaken <= 0) break;
    const bool order = loss_.by_order && !rack_by_probe_ && record.path == rack_path_ &&
                       overtaken >= static_cast<int32_t>(kOrderTolerance);
    if (!order && record.sent + patience > seen) {
      rack_deadline_ = record.sent + patience;
      break;
    }
    (order ? by_order : by_time) += Bytes(record.size);
    ++(order ? shared_.counters.lost_by_order : shared_.counters.lost_by_time);
    DeclareLost(now, slot, PathEvent::kLost);
  }
  if (by_order > Bytes(0)) ReportLoss(now, by_order, LossCause::kOrder, false);
  if (by_time > Bytes(0)) ReportLoss(now, by_time, LossCause::kTime, false);
}

void Sender::DeclareLost(Time now, uint16_t slot, PathEvent event) {
  TxRecord& record = window_.At(slot);
  WEIR_DCHECK(record.state == TxState::kInFlight);
  window_.Remove(window_.in_flight, slot);
  window_.PushBack(window_.lost, slot);
  record.state = TxState::kLost;
  in_flight_ -= Bytes(record.size);
  lost_bytes_ += record.size;
  if (binding_->lb->learns && record.path < binding_->paths) {
    lb_->OnFeedback({.now = now, .path = record.path, .event = event});
  }
}

void Sender::ReportLoss(Time now, Bytes lost, LossCause cause, bool marked) {
  cc_->OnLoss({.now = now,
               .round = round_,
               .lost = lost,
               .in_flight = in_flight_,
               .cause = cause,
               .marked = marked});
  RefreshAllowance();
}

// --- Timers ---

// After a stall the acknowledgements that have waited come first.
Time Sender::RackDeadline() const {
  return std::max(rack_deadline_, shared_.stalled_until + reorder_window_);
}

Time Sender::RtoDeadline() const {
  if (window_.in_flight.empty()) return Time::Never();
  const Time sent = window_.At(window_.in_flight.head).sent;
  // Time during which the poll loop did not run is not the peer's silence.
  const Time from = std::max({sent, last_progress_, shared_.stalled_until});
  return from + rtt_.timeout() * (int64_t{1} << std::min(timeouts_in_row_, kBackoffMax));
}

Time Sender::ProbeDeadline() const {
  const bool waits = !window_.in_flight.empty() || BlockedByReceives();
  if (!waits || probe_due_) return Time::Never();
  const Time from = std::max({last_sent_, shared_.stalled_until, probe_sent_});
  const Duration interval = kProbeRtts * rtt_.smoothed() + flow_.base_rtt / 2;
  return from + interval * (int64_t{1} << std::min(probes_in_row_, kProbeBackoffMax));
}

Time Sender::NextDeadline(Time now) const {
  Time next = std::min({cc_timer_, RackDeadline(), RtoDeadline(), ProbeDeadline()});
  // A credit request that is due waits only to be polled.
  const bool later = limit_ == Limit::kCredit && credit_request_at_ > now;
  return later ? std::min(next, credit_request_at_) : next;
}

bool Sender::HandleTimer(Time now) {
  if (cc_timer_ <= now) {
    cc_->OnTimer(now);
    RefreshAllowance();
  }
  if (RackDeadline() <= now) DetectLosses(now, now);
  if (RtoDeadline() <= now) HandleTimeout(now);
  if (ProbeDeadline() <= now) {
    probe_due_ = true;
    ++probes_in_row_;
    ++unanswered_;
  }
  const bool silent = unanswered_ > loss_.retries_max && now - heard_at_ > SilenceMax();
  return timeouts_in_row_ <= loss_.retries_max && !silent;
}

// As long as the time-outs in a row that use up all retries.
Duration Sender::SilenceMax() const {
  const int longest = std::max(0, loss_.retries_max - kBackoffMax);
  return loss_.rto_min * ((int64_t{2} << kBackoffMax) - 1 + (int64_t{longest} << kBackoffMax));
}

void Sender::HeardFromPeer(Time now) {
  unanswered_ = 0;
  heard_at_ = now;
}

void Sender::HandleTimeout(Time now) {
  ++timeouts_in_row_;
  ++stats_.timeouts;
  ++shared_.counters.timeouts;
  Bytes lost{};
  while (!window_.in_flight.empty()) {
    const uint16_t slot = window_.in_flight.head;
    lost += Bytes(window_.At(slot).size);
    ++shared_.counters.lost_by_timeout;
    DeclareLost(now, slot, PathEvent::kTimeout);
  }
  cc_->OnTimeout({.now = now, .round = round_, .lost = lost, .consecutive = timeouts_in_row_});
  RefreshAllowance();
}

void Sender::HandleCnp(Time now) {
  HeardFromPeer(now);
  ++shared_.counters.cnps_received;
  if ((binding_->cc->events & kCcCnp) == 0) return;
  cc_->OnCnp(now);
  RefreshAllowance();
}

void Sender::HandleCredit(Time now, uint32_t granted) {
  HeardFromPeer(now);
  const auto units = static_cast<int32_t>(granted - granted_);
  if (units <= 0) return;
  granted_ = granted;
  credit_asks_ = 0;
  if ((binding_->cc->events & kCcCredit) == 0) return;
  cc_->OnCredit(now, Bytes(units * kCreditUnit));
  RefreshAllowance();
}

// --- Sending ---

void Sender::RefreshAllowance() {
  allowance_ = cc_->allowance();
  WEIR_DCHECK(IsLegal(allowance_));
  const Rate rate = std::min(allowance_.rate, flow_.line_rate);
  if (allowance_.rate != Rate::Max()) pace_.set_rate(rate);
  if ((binding_->cc->events & kCcTimer) != 0) cc_timer_ = cc_->timer();
}

void Sender::EnterIdleIfDone(Time now) {
  if (was_idle_ || !idle()) return;
  was_idle_ = true;
  idle_since_ = now;
  limit_ = Limit::kApplication;
  cc_->OnIdle(now);
  RefreshAllowance();
}

void Sender::LeaveIdle(Time now) {
  if (!was_idle_) return;
  was_idle_ = false;
  last_progress_ = heard_at_ = probe_sent_ = now;
  probe_under_way_ = false;
  cc_->OnResume(now, now - idle_since_);
  RefreshAllowance();
}

bool Sender::BlockedByReceives() const {
  if (unsent_ == Pool<TxMessage>::kNone) return false;
  const TxMessage& message = shared_.tx_messages[unsent_];
  return !message.write && static_cast<int32_t>(message.target - receives_) >= 0;
}

const TxMessage* Sender::FrontMessage() const {
  if (unsent_ == Pool<TxMessage>::kNone || BlockedByReceives()) return nullptr;
  return &shared_.tx_messages[unsent_];
}

uint32_t Sender::PieceBytes(const TxMessage& message, uint32_t piece) const {
  return std::min(payload_max_, message.length - piece * payload_max_);
}

Bytes Sender::NextSize() const {
  if (!window_.lost.empty()) {
    return Bytes(window_.At(window_.lost.head).size);
  }
  const TxMessage* message = FrontMessage();
  if (message == nullptr) return Bytes(0);
  return Bytes(PieceBytes(*message, message->pieces_sent) + overhead_);
}

Bytes Sender::Backlog() const {
  return Bytes(static_cast<int64_t>(lost_bytes_ + unsent_bytes_ +
                                    static_cast<uint64_t>(unsent_pieces_) * overhead_));
}

Sender::Turn Sender::NextTurn(Time now) {
  const Bytes size = NextSize();
  if (size == Bytes(0)) {
    limit_ = Limit::kApplication;
    return {};
  }
  if (window_.lost.empty() && !window_.HasRoom(window_limit_)) {
    limit_ = Limit::kWindow;
    if (window_.span() >= window_limit_) return {};
    ++shared_.counters.tx_pages_short;
    return {.at = now + rtt_.smoothed()};  // no event says that a page is free again
  }
  // A window below one packet still lets one out: then the rate spaces them.
  if (in_flight_ + size > allowance_.window && in_flight_ > Bytes(0)) {
    limit_ = Limit::kWindow;
    return {};
  }
  if (allowance_.credit < size) {
    if (limit_ != Limit::kCredit) credit_request_at_ = std::max(now, last_sent_ + rtt_.smoothed());
    limit_ = Limit::kCredit;
    return {};
  }
  if (allowance_.rate != Rate::Max() && pace_.free_at() > now) {
    limit_ = Limit::kPacer;
    return {.at = pace_.free_at()};
  }
  limit_ = Limit::kNone;
  return {.send = true};
}

// The slot of the next packet's record, in no list: of a lost packet, else of a new one.
uint16_t Sender::TakeNext() {
  if (!window_.lost.empty()) {
    const uint16_t slot = window_.lost.head;
    window_.Remove(window_.lost, slot);
    TxRecord& record = window_.At(slot);
    lost_bytes_ -= record.size;
    ++record.attempt;
    ++stats_.retransmits;
    ++shared_.counters.retransmitted_packets;
    return slot;
  }
  TxMessage& message = shared_.tx_messages[unsent_];
  const uint16_t slot = TxWindow::Slot(window_.next());
  TxRecord& record = window_.Append();
  record.message = unsent_;
  record.piece = message.pieces_sent++;
  const uint32_t payload = PieceBytes(message, record.piece);
  record.size = static_cast<uint16_t>(payload + overhead_);
  unsent_bytes_ -= payload;
  --unsent_pieces_;
  ++stats_.packets;
  if (message.pieces_sent == message.pieces) unsent_ = message.next;
  return slot;
}

DataHeader Sender::HeaderFor(const TxRecord& record, Psn psn, WireId to) const {
  const TxMessage& message = shared_.tx_messages[record.message];
  const uint64_t offset = static_cast<uint64_t>(record.piece) * payload_max_;
  DataHeader h;
  h.payload = static_cast<uint16_t>(PieceBytes(message, record.piece));
  h.to = to;
  h.psn = psn;
  h.attempt = record.attempt;
  h.address = message.write ? message.address + offset : offset;
  h.message = message.number;
  h.length = message.length;
  h.target = message.target;
  if (message.write) h.flags |= DataHeader::kWrite;
  if (message.notify) h.flags |= DataHeader::kNotify;
  if (telemetry_) h.flags |= DataHeader::kTelemetry;
  if (payload_crc_ && message.data != nullptr) {
    h.flags |= DataHeader::kPayloadCrc;
    h.payload_crc = Crc32c(0, {message.data + offset, h.payload});
  }
  return h;
}

Bytes Sender::PollData(Time now, Time departure, const FrameWriter& writer, WireId to,
                       Frame& frame) {
  const bool retransmit = !window_.lost.empty();
  const uint16_t slot = TakeNext();
  TxRecord& record = window_.At(slot);
  const Bytes size(record.size);
  record.path = lb_->PickPath({.now = now,
                               .size = size,
                               .in_flight = in_flight_,
                               .window = allowance_.window,
                               .retransmit = retransmit,
                               .lost_on = static_cast<PathId>(record.path % binding_->paths)});
  WEIR_DCHECK(record.path < binding_->paths);
  record.sent = departure;
  record.send_seq = next_send_seq_++;
  record.state = TxState::kInFlight;
  window_.PushBack(window_.in_flight, slot);
  in_flight_ += size;
  last_sent_ = departure;

  DataHeader header = HeaderFor(record, window_.PsnAt(slot), to);
  const bool last = NextSize() == Bytes(0);
  const bool tight = allowance_.window < 2 * ack_every_;
  if (last || tight || retransmit) header.flags |= DataHeader::kAckRequest;
  header.demand = Demand(now);
  const TxMessage& message = shared_.tx_messages[record.message];
  frame.size = writer.Write(header, record.path, retransmit, frame.data);
  frame.payload_size = header.payload;
  frame.payload = message.data == nullptr
                      ? nullptr
                      : message.data + static_cast<size_t>(record.piece) * payload_max_;
  frame.path = record.path;
  frame.cls = retransmit ? FrameClass::kRetransmit : FrameClass::kData;
  ++shared_.counters.data_packets_sent;
  shared_.counters.data_bytes_sent += header.payload;

  if (allowance_.rate != Rate::Max()) pace_.Book(now - kPaceCatchUp, size);
  if ((binding_->cc->events & kCcSend) != 0) {
    cc_->OnSend({.now = now, .size = size, .in_flight = in_flight_, .retransmit = retransmit});
    RefreshAllowance();
  }
  return size;
}

bool Sender::WantsCreditRequest(Time now) {
  if (limit_ != Limit::kCredit || credit_request_at_ > now) return false;
  return allowance_.credit < NextSize() && cc_->CreditWanted(Backlog()) > Bytes(0);
}

uint32_t Sender::PollCreditRequest(Time now) {
  ++unanswered_;
  ++credit_asks_;
  return Demand(now);
}

uint32_t Sender::Demand(Time now) {
  if ((binding_->cc->events & kCcCredit) == 0) return 0;
  // Data or request: the next request is a round trip away, more while the receiver is busy.
  credit_request_at_ = now + rtt_.smoothed() * (int64_t{1} << std::min(credit_asks_, kBackoffMax));
  const Bytes wanted = cc_->CreditWanted(Backlog());
  return granted_ + CeilDiv(static_cast<uint64_t>(wanted.count()), kCreditUnit);
}

uint32_t Sender::PollProbe(Time departure) {
  probe_due_ = false;
  probe_under_way_ = true;
  probe_sent_ = departure;
  probe_seq_ = next_send_seq_++;
  ++shared_.counters.probes_sent;
  return ++probe_number_;
}

}  // namespace weir
