#include "datapath/sender.h"

#include <algorithm>

namespace weir {
namespace {

// A pacer that was served late makes up for at most this much.
constexpr Duration kPaceCatchUp = Micros(1);

uint32_t CeilDiv(uint64_t a, uint64_t b) { return static_cast<uint32_t>((a + b - 1) / b); }

}  // namespace

void Sender::Open(Time now, Pool<TxPage>& pages, const SenderSetup& setup) {
  id_ = setup.id;
  binding_ = setup.binding;
  flow_ = setup.flow;
  loss_ = setup.loss;
  payload_max_ = setup.payload_max;
  overhead_ = setup.overhead;
  window_limit_ = setup.window_limit;
  receives_ = setup.receives;
  in_band_ = setup.in_band;
  payload_crc_ = setup.payload_crc;
  health_ = setup.health;
  credit_held_ = setup.credit_held;
  window_.Reset(pages, setup.first_psn);
  rtt_ = RttEstimator(flow_.base_rtt, loss_.rto_min);
  reorder_window_ = loss_.reorder_window;
  last_progress_ = heard_at_ = last_sent_ = idle_since_ = now;
  Install(Mix64(flow_.seed));
  RefreshAllowance();
}

// Builds algorithm and policy of the present binding.
void Sender::Install(uint64_t lb_seed) {
  ack_every_ = binding_->cc->duty(flow_, binding_->cc_config).ack_every;
  cc_.Emplace(*binding_->cc, flow_, binding_->cc_config);
  lb_.Emplace(*binding_->lb,
              LbInfo{.paths = binding_->paths,
                     .mtu = flow_.mtu,
                     .bdp = flow_.bdp(),
                     .base_rtt = flow_.base_rtt,
                     .seed = lb_seed,
                     .health = health_ != nullptr ? health_ : &kAllPathsGood},
              binding_->lb_config);
  probe_interval_ = (binding_->cc->events & kCcProbe) != 0 ? cc_->probe_interval() : Duration(0);
}

void Sender::Release() {
  while (open_head_ != Pool<TxMessage>::kNone) {
    shared_.completions.Cancel();
    Forget(open_head_);
  }
  if (credit_held_ != nullptr) CountCredit(Bytes(0));
  window_.ReleaseAll();
  in_flight_ = Bytes(0);
  lost_bytes_ = unsent_bytes_ = 0;
  unsent_pieces_ = 0;
  unsent_ = Pool<TxMessage>::kNone;
}

void Sender::Rebind(Time now, const Binding& binding, const LossRules& loss, PathHealth* health) {
  const Snapshot before = TakeSnapshot();
  binding_ = &binding;
  loss_ = loss;
  health_ = health;
  path_probe_due_ = false;
  reorder_window_ = std::max(reorder_window_, loss.reorder_window);
  cc_timer_ = Time::Never();
  Install(Mix64(flow_.seed + static_cast<uint64_t>(now.nanos())));
  cc_->Restore(before);
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

// --- Sending ---

void Sender::RefreshAllowance() {
  allowance_ = cc_->allowance();
  WEIR_DCHECK(IsLegal(allowance_));
  const Rate rate = std::min(allowance_.rate, flow_.line_rate);
  if (allowance_.rate != Rate::Max()) pace_.set_rate(rate);
  if ((binding_->cc->events & kCcTimer) != 0) cc_timer_ = cc_->timer();
  if ((binding_->cc->events & kCcCredit) != 0) {
    // Unlimited credit is none, and who is idle hinders nobody.
    const bool none = was_idle_ || allowance_.credit == Bytes::Max();
    CountCredit(none ? Bytes(0) : allowance_.credit);
  }
}

void Sender::CountCredit(Bytes held) {
  credit_held_->bytes += held - credit_counted_;
  credit_held_->connections += (held > Bytes(0) ? 1u : 0u) - (credit_counted_ > Bytes(0) ? 1u : 0u);
  credit_counted_ = held;
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
  h.Reserve(in_band_);
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
  const TxMessage& message = shared_.tx_messages[record.message];
  record.path = lb_->PickPath({.now = now,
                               .size = size,
                               .in_flight = in_flight_,
                               .window = allowance_.window,
                               .message = message.number,
                               .message_size = Bytes(message.length),
                               .offset = Bytes(static_cast<int64_t>(record.piece) * payload_max_),
                               .retransmit = retransmit,
                               .lost_on = static_cast<PathId>(record.path % binding_->paths)});
  WEIR_DCHECK(record.path < binding_->paths);
  record.sent = departure;
  record.send_seq = next_send_seq_++;
  record.state = TxState::kInFlight;
  window_.PushBack(window_.in_flight, slot);
  in_flight_ += size;
  last_sent_ = departure;
  last_path_ = record.path;

  DataHeader header = HeaderFor(record, window_.PsnAt(slot), to);
  const bool last = NextSize() == Bytes(0);
  const bool tight = allowance_.window < 2 * ack_every_;
  if (last || tight || retransmit) header.flags |= DataHeader::kAckRequest;
  header.demand = Demand(now);
  if ((binding_->cc->events & kCcCredit) != 0 && cc_->CreditPilesUp(*credit_held_)) {
    header.flags |= DataHeader::kCreditPilesUp;
  }
  frame.size = writer.Write(header, record.path, retransmit, frame.data);
  frame.payload_size = header.payload;
  frame.payload = message.data == nullptr
                      ? nullptr
                      : message.data + static_cast<size_t>(record.piece) * payload_max_;
  frame.path = record.path;
  frame.cls = retransmit ? FrameClass::kRetransmit : FrameClass::kData;
  if (binding_->urgent) {
    frame.cls = FrameClass::kControl;
    SetFrameDscp({frame.data, frame.size}, kDscpControl);
  } else if (binding_->traffic_class != 0) {
    const int first = retransmit ? kDscpRetransmit : kDscpData;
    SetFrameDscp({frame.data, frame.size}, static_cast<uint8_t>(first + binding_->traffic_class));
  }
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

uint32_t Sender::PollPathProbe(Time departure, PathId& path) {
  path_probe_due_ = false;
  path = path_probe_path_;
  const uint32_t number = ++path_probe_number_;
  path_probes_[number % path_probes_.size()] = {.number = number, .path = path, .sent = departure};
  ++shared_.counters.probes_sent;
  return number;
}

}  // namespace weir
