#include "datapath/offload/chunk_sender.h"

#include <algorithm>

#include "datapath/offload/chunk_word.h"

namespace weir {
namespace {

// A pacer that was served late makes up for at most this much.
constexpr Duration kPaceCatchUp = Micros(1);

uint32_t CeilDiv(uint64_t a, uint64_t b) { return static_cast<uint32_t>((a + b - 1) / b); }

}  // namespace

void ChunkSender::Open(Time now, const ChunkSenderSetup& setup) {
  id_ = setup.id;
  link_ = setup.link;
  binding_ = setup.binding;
  link_paths_ = setup.paths;
  chunk_bytes_ = setup.chunk_bytes;
  flow_ = setup.flow;
  caps_ = setup.caps;
  patience_ = setup.patience;
  rtt_ = RttEstimator(flow_.base_rtt, flow_.base_rtt);
  last_progress_ = idle_since_ = now;
  Install(Mix64(flow_.seed));
  RefreshAllowance();
}

// Builds algorithm and policy of the present binding.
void ChunkSender::Install(uint64_t lb_seed) {
  paths_ = std::min(binding_->paths, link_paths_);
  cc_.Emplace(*binding_->cc, flow_, binding_->cc_config);
  lb_.Emplace(*binding_->lb,
              LbInfo{.paths = paths_,
                     .mtu = flow_.mtu,
                     .bdp = flow_.bdp(),
                     .base_rtt = flow_.base_rtt,
                     .seed = lb_seed},
              binding_->lb_config);
  probe_interval_ = (binding_->cc->events & kCcProbe) != 0 ? cc_->probe_interval() : Duration(0);
  picked_ = false;
}

void ChunkSender::Release() {
  for (uint32_t i = 0; outstanding_ > 0 && i < shared_.records.touched(); ++i) {
    const ChunkRecord& record = shared_.records[i];
    if (record.kind != ChunkRecord::Kind::kFree && record.link == link_) GiveRecord(i);
  }
  while (open_head_ != kNone) {
    shared_.completions.Cancel();
    Forget(open_head_);
  }
  unsent_ = kNone;
  in_flight_ = Bytes(0);
}

void ChunkSender::DropUnsent() {
  picked_ = false;
  while (unsent_ != kNone) {
    TxMessage& message = shared_.messages[unsent_];
    const uint32_t index = unsent_;
    unsent_ = message.next;
    if (message.pieces_sent > message.pieces_acked) {
      message.pieces = kChunksMax + 1;  // it never completes
      continue;
    }
    shared_.completions.Cancel();
    Forget(index);
  }
}

void ChunkSender::Rebind(Time now, const Binding& binding) {
  Snapshot before = cc_->snapshot();
  before.smoothed_rtt = rtt_.smoothed();
  before.min_rtt = rtt_.min();
  before.in_flight = in_flight_;
  binding_ = &binding;
  cc_timer_ = Time::Never();
  Install(Mix64(flow_.seed + static_cast<uint64_t>(now.nanos())));
  cc_->Restore(before);
  RefreshAllowance();
}

// --- Posting ---

bool ChunkSender::Post(Time now, const WriteRequest& request) {
  if (shared_.messages.exhausted() || !shared_.completions.Reserve()) return false;
  const uint32_t index = shared_.messages.Take();
  TxMessage& message = shared_.messages[index];
  message = TxMessage{};
  message.number = next_message_++;
  message.data = request.data;
  message.length = request.length;
  message.pieces = std::max(1u, CeilDiv(request.length, chunk_bytes_));
  message.target = request.region;
  message.address = request.address;
  message.cookie = request.cookie;
  message.write = true;
  message.notify = request.notify;
  message.next = kNone;
  message.prev = open_tail_;
  if (open_tail_ == kNone) {
    open_head_ = index;
  } else {
    shared_.messages[open_tail_].next = index;
  }
  open_tail_ = index;
  if (unsent_ == kNone) unsent_ = index;
  if (!was_idle_) return true;
  was_idle_ = false;
  probe_at_ = now;
  cc_->OnResume(now, now - idle_since_);
  RefreshAllowance();
  return true;
}

void ChunkSender::Forget(uint32_t index) {
  const TxMessage& message = shared_.messages[index];
  if (message.prev == kNone) {
    open_head_ = message.next;
  } else {
    shared_.messages[message.prev].next = message.next;
  }
  if (message.next == kNone) {
    open_tail_ = message.prev;
  } else {
    shared_.messages[message.next].prev = message.prev;
  }
  shared_.messages.Give(index);
}

// --- Sending ---

uint32_t ChunkSender::NextPayload() const {
  const TxMessage& message = shared_.messages[unsent_];
  return std::min(chunk_bytes_, message.length - message.pieces_sent * chunk_bytes_);
}

void ChunkSender::RefreshAllowance() {
  allowance_ = cc_->allowance();
  WEIR_DCHECK(IsLegal(allowance_));
  if (allowance_.rate != Rate::Max()) pace_.set_rate(std::min(allowance_.rate, flow_.line_rate));
  if ((binding_->cc->events & kCcTimer) != 0) cc_timer_ = cc_->timer();
}

ChunkSender::Turn ChunkSender::NextTurn(Time now) {
  if (unsent_ == kNone) {
    limit_ = Limit::kApplication;
    return {};
  }
  // The receiver keeps count of so many messages at a time.
  const uint32_t ahead = shared_.messages[unsent_].number - shared_.messages[open_head_].number;
  // A window below one chunk still lets one out: then the rate spaces them.
  const bool over = in_flight_ + caps_->SizeOnWire(NextPayload()) > allowance_.window;
  if (ahead >= kChunkedMessagesOpen || (over && in_flight_ > Bytes(0))) {
    limit_ = Limit::kWindow;
    return {};
  }
  if (allowance_.rate != Rate::Max() && pace_.free_at() > now) {
    limit_ = Limit::kPacer;
    return {.at = pace_.free_at()};
  }
  limit_ = Limit::kNone;
  if (!shared_.records.exhausted()) return {.send = true};
  ++shared_.counters.records_short;
  return {};
}

void ChunkSender::PickPathOfNext(Time now, Bytes size) {
  const TxMessage& message = shared_.messages[unsent_];
  next_path_ =
      lb_->PickPath({.now = now,
                     .size = size,
                     .in_flight = in_flight_,
                     .window = allowance_.window,
                     .message = message.number,
                     .message_size = Bytes(message.length),
                     .offset = Bytes(static_cast<int64_t>(message.pieces_sent) * chunk_bytes_)});
  WEIR_DCHECK(next_path_ < paths_);
  picked_ = true;
  if (outstanding_ == 0) last_progress_ = now;
}

uint32_t ChunkSender::TakeRecord(Time now, ChunkRecord::Kind kind, PathId path) {
  const uint32_t index = shared_.records.Take();
  ChunkRecord& record = shared_.records[index];
  record = {.use = record.use + 1, .kind = kind, .path = path, .link = link_, .sent = now};
  ++outstanding_;
  return index;
}

void ChunkSender::GiveRecord(uint32_t record) {
  shared_.records[record].kind = ChunkRecord::Kind::kFree;
  shared_.records.Give(record);
  --outstanding_;
}

bool ChunkSender::SendChunk(Time now, ChunkPort& port) {
  const uint32_t payload = NextPayload();
  const Bytes size = caps_->SizeOnWire(payload);
  if (!picked_) PickPathOfNext(now, size);
  TxMessage& message = shared_.messages[unsent_];
  const uint64_t offset = uint64_t{message.pieces_sent} * chunk_bytes_;
  const ChunkWord word{.message = static_cast<uint16_t>(message.number),
                       .chunks = static_cast<uint16_t>(message.pieces)};
  const uint32_t index = TakeRecord(now, ChunkRecord::Kind::kData, next_path_);
  ChunkRecord& record = shared_.records[index];
  const bool posted = port.Post(link_, next_path_,
                                {.cookie = uint64_t{record.use} << 32 | index,
                                 .data = message.data == nullptr ? nullptr : message.data + offset,
                                 .size = payload,
                                 .region = message.target,
                                 .address = message.address + offset,
                                 .tell = message.notify,
                                 .word = word.Encode()});
  if (!posted) {
    GiveRecord(index);
    ++shared_.counters.pair_full;
    return false;
  }
  picked_ = false;
  last_path_ = next_path_;
  record.message = unsent_;
  record.size = size;
  record.send_seq = next_send_seq_++;
  in_flight_ += size;
  ++stats_.packets;
  ++shared_.counters.chunks_sent;
  shared_.counters.bytes_sent += payload;
  if (++message.pieces_sent == message.pieces) unsent_ = message.next;
  if (allowance_.rate != Rate::Max()) pace_.Book(now - kPaceCatchUp, size);
  if ((binding_->cc->events & kCcSend) != 0) {
    cc_->OnSend({.now = now, .size = size, .in_flight = in_flight_});
    RefreshAllowance();
  }
  return true;
}

bool ChunkSender::SendLast(Time now, ChunkPort& port, uint16_t word) {
  if (shared_.records.exhausted()) return false;
  const uint32_t index = TakeRecord(now, ChunkRecord::Kind::kLast, 0);
  const uint64_t cookie = uint64_t{shared_.records[index].use} << 32 | index;
  const ChunkWord last{.message = word, .chunks = 0};
  if (!port.Post(link_, 0, {.cookie = cookie, .tell = true, .word = last.Encode()})) {
    GiveRecord(index);
    return false;
  }
  if (outstanding_ == 1) last_progress_ = now;
  return true;
}

void ChunkSender::SendProbeIfDue(Time now, ChunkPort& port) {
  if (probe_interval_ == Duration(0) || in_flight_ == Bytes(0) || probe_at_ > now) return;
  probe_at_ = now + probe_interval_;
  if (probe_under_way_ || shared_.records.exhausted()) return;
  const uint32_t index = TakeRecord(now, ChunkRecord::Kind::kProbe, last_path_);
  const uint64_t cookie = uint64_t{shared_.records[index].use} << 32 | index;
  if (!port.Post(link_, last_path_, {.cookie = cookie})) return GiveRecord(index);
  probe_under_way_ = true;
  ++shared_.counters.probes_sent;
}

// --- Completions and time ---

void ChunkSender::HandleDone(Time now, const ChunkEvent& event, uint32_t index) {
  const ChunkRecord record = shared_.records[index];
  GiveRecord(index);
  last_progress_ = now;
  const Duration rtt = event.at - record.sent;
  const bool late = event.gap > shared_.late_max;
  const bool valid = !late && rtt > Duration(0);
  if (!valid) ++shared_.counters.rtt_rejected;
  switch (record.kind) {
    case ChunkRecord::Kind::kLast:
      last_done_ = true;
      return;
    case ChunkRecord::Kind::kProbe:
      probe_under_way_ = false;
      if (!valid) return;
      cc_->OnProbe({.now = now, .rtt = rtt, .path = record.path});
      return RefreshAllowance();
    default:
      break;
  }
  ++shared_.counters.chunks_done;
  in_flight_ -= record.size;
  if (valid) rtt_.Add(now, rtt);
  TellPlugins(now, record, valid ? rtt : Duration(0), late);
  FinishChunk(record.message);
  EnterIdleIfDone(now);
}

void ChunkSender::TellPlugins(Time now, const ChunkRecord& record, Duration rtt, bool late) {
  if (static_cast<int32_t>(record.send_seq - round_end_) >= 0) {
    ++round_;
    round_end_ = next_send_seq_;
  }
  stats_.acked_bytes += static_cast<uint64_t>(record.size.count());
  // A binding that was replaced may have had more paths.
  if (binding_->lb->learns && record.path < paths_) {
    lb_->OnFeedback({.now = now, .path = record.path, .rtt = rtt});
  }
  cc_->OnAck({.now = now,
              .round = round_,
              .newly_acked = record.size,
              .in_flight = in_flight_,
              .rtt = rtt,
              .limit = limit_,
              .host_stall = late,
              .path = record.path});
  RefreshAllowance();
}

void ChunkSender::FinishChunk(uint32_t index) {
  TxMessage& message = shared_.messages[index];
  ++message.pieces_acked;
  if (message.pieces > kChunksMax) {  // dropped
    if (message.pieces_acked < message.pieces_sent) return;
    shared_.completions.Cancel();
    return Forget(index);
  }
  if (message.pieces_acked < message.pieces) return;
  ++done_messages_;
  shared_.completions.Push({.event = Event::kSent,
                            .connection = id_,
                            .cookie = message.cookie,
                            .bytes = message.length});
  Forget(index);
}

void ChunkSender::EnterIdleIfDone(Time now) {
  if (was_idle_ || !idle()) return;
  was_idle_ = true;
  idle_since_ = now;
  limit_ = Limit::kApplication;
  cc_->OnIdle(now);
  RefreshAllowance();
}

bool ChunkSender::HandleTimer(Time now) {
  if (cc_timer_ <= now) {
    cc_->OnTimer(now);
    RefreshAllowance();
  }
  return !Awaiting() || now - last_progress_ <= patience_;
}

Time ChunkSender::NextDeadline() const {
  Time next = cc_timer_;
  if (Awaiting()) next = std::min(next, last_progress_ + patience_ + Nanos(1));
  if (probe_interval_ > Duration(0) && in_flight_ > Bytes(0)) next = std::min(next, probe_at_);
  return next;
}

}  // namespace weir
