#include "datapath/receiver.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace weir {
namespace {

// What an acknowledgement counts for a packet at least, so that small ones are not acknowledged one
// by one. Source: UEC 1.0 section 3.6, MIN_PKT_ADD.
constexpr Bytes kCountedMin = KiB(1);

}  // namespace

void Receiver::Open(const ReceiverSetup& setup) {
  id_ = setup.id;
  duty_ = setup.duty;
  ack_delay_ = setup.ack_delay;
  cumulative_ = highest_ = setup.first_psn;
}

void Receiver::Release() {
  for (Chain<RxMessage>* chain : {&buffers_, &writes_}) {
    while (!chain->empty()) {
      shared_.rx_messages.Give(chain->PopFront(shared_.rx_messages));
      shared_.completions.Cancel();
    }
  }
}

bool Receiver::Post(const ReceiveRequest& request) {
  if (shared_.rx_messages.exhausted() || !shared_.completions.Reserve()) return false;
  const uint32_t index = shared_.rx_messages.Take();
  shared_.rx_messages[index] = RxMessage{.key = receives_++,
                                         .to = {request.data, request.in_place},
                                         .capacity = request.capacity,
                                         .cookie = request.cookie};
  buffers_.PushBack(shared_.rx_messages, index);
  ack_due_ = true;  // tells the peer
  return true;
}

Receiver::Novelty Receiver::Classify(Psn psn) const {
  const int32_t ahead = Distance(cumulative_, psn);
  if (ahead < 0) {
    return -ahead <= static_cast<int32_t>(kWindow) ? Novelty::kDuplicate : Novelty::kOutside;
  }
  if (ahead >= static_cast<int32_t>(kWindow - 64)) return Novelty::kOutside;
  return (WordAt(psn) >> psn.value() % 64 & 1) != 0 ? Novelty::kDuplicate : Novelty::kNew;
}

void Receiver::Record(Psn psn) {
  WordAt(psn) |= uint64_t{1} << psn.value() % 64;
  if (!Before(psn, highest_)) highest_ = psn + 1;
  while (true) {
    uint64_t& word = WordAt(cumulative_);
    const uint32_t bit = cumulative_.value() % 64;
    const auto run = static_cast<uint32_t>(std::countr_one(word >> bit));
    cumulative_ = cumulative_ + run;
    if (bit + run < 64) return;
    word = 0;
  }
}

Cause Receiver::HandleData(Time now, std::optional<Time> arrived, const DataHeader& h,
                           const FrameInfo& info, std::span<const std::byte> payload) {
  Counters& counters = shared_.counters;
  counters.marks_received += info.marked ? 1 : 0;
  const Novelty novelty = Classify(h.psn);
  if (novelty == Novelty::kOutside) {
    ++counters.outside_window;
    ack_due_ = true;  // a sender that is so far off needs to know where we are
    return Cause::kNone;
  }
  if (novelty == Novelty::kDuplicate) {
    ++counters.duplicates_received;
    NoteRepeat();
  } else {
    bool placed = false;
    const Cause cause = Place(h, payload, placed);
    if (cause != Cause::kNone) return cause;
    if (!placed) {  // no room: as if it had been lost
      ++counters.no_buffer_drops;
      return Cause::kNone;
    }
    ++counters.data_packets_received;
    counters.data_bytes_received += h.payload;
    Record(h.psn);
    repeats_ = 0;
  }
  NoteForAck(now, arrived, h, info);
  // The previous acknowledgement of a duplicate may have been lost.
  if (novelty == Novelty::kDuplicate) ack_due_ = true;
  return Cause::kNone;
}

void Receiver::StartWords(Psn base, uint64_t marked) {
  pending_ = true;
  pending_base_ = base;
  pending_words_ = 1;
  marked_.fill(0);
  marked_[0] = marked;
}

// Makes room for the packet in the words of the next acknowledgement, or in the one after it.
void Receiver::AddToWords(Psn psn, bool marked) {
  const Psn base(psn.value() & ~63u);
  const uint64_t bit = marked ? uint64_t{1} << psn.value() % 64 : 0;
  if (!pending_) return StartWords(base, bit);
  int32_t word = Distance(pending_base_, base) / 64;
  if (word < 0 && pending_words_ - word <= kSackWords) {
    std::copy_backward(marked_.begin(), marked_.end() + word, marked_.end());
    std::fill(marked_.begin(), marked_.begin() - word, 0);
    pending_words_ = static_cast<uint8_t>(pending_words_ - word);
    pending_base_ = base;
    word = 0;
  }
  if (word >= 0 && word < kSackWords) {
    pending_words_ = std::max(pending_words_, static_cast<uint8_t>(word + 1));
    marked_[word] |= bit;
    return;
  }
  AddExtra(base, bit);
}

void Receiver::AddExtra(Psn base, uint64_t marked) {
  ack_due_ = true;
  for (Word& word : std::span(extra_.data(), extras_)) {
    if (word.base != base) continue;
    word.marked |= marked;
    return;
  }
  if (extras_ < kExtras) extra_[extras_++] = {.base = base, .marked = marked};
}

void Receiver::NoteForAck(Time now, std::optional<Time> arrived, const DataHeader& h,
                          const FrameInfo& info) {
  if (!pending_) ack_at_ = now + ack_delay_;
  AddToWords(h.psn, info.marked);
  switch (h.in_band()) {
    case InBand::kTelemetry:
      records_ = static_cast<uint8_t>(ReadTelemetry(info.packet, telemetry_));
      break;
    case InBand::kPathLoad:
      path_load_ = ReadPathLoad(info.packet);
      break;
    case InBand::kNone:
      break;
  }
  echo_valid_ = arrived.has_value();
  probe_echo_ = false;
  echo_ = h.psn;
  echo_attempt_ = h.attempt;
  echo_arrived_ = arrived.value_or(now);
  pending_bytes_ += std::max(kCountedMin, Bytes(h.payload));
  if ((h.flags & DataHeader::kAckRequest) != 0) {
    ack_due_ = true;
    // What it overtook is waited for, too.
    if (!asked_ || Before(asked_for_, h.psn)) asked_for_ = h.psn;
    asked_ = true;
  }
  if (asked_ && Before(asked_for_, cumulative_)) {
    asked_ = false;
    ack_due_ = true;
  }
  if (pending_bytes_ >= duty_.ack_every) ack_due_ = true;
  if (info.marked && duty_.cnp_interval > Duration(0) &&
      (!cnp_ever_ || now - cnp_last_ >= duty_.cnp_interval)) {
    cnp_due_ = cnp_ever_ = true;
    cnp_last_ = now;
  }
}

void Receiver::HandleProbe(Time arrived, uint32_t number) {
  ack_due_ = true;
  NoteRepeat();
  echo_valid_ = false;
  probe_echo_ = true;
  echo_ = Psn(number);
  echo_arrived_ = arrived;
  if (pending_) return;
  StartWords(Psn((highest_ - 1).value() & ~63u), 0);  // what is most recent
}

void Receiver::PollAck(Time departure, AckHeader& ack) {
  ack.cumulative = cumulative_;
  ack.receives = receives_;
  ack.base = pending_base_;
  ack.words = 0;
  if (pending_) {
    for (int w = 0; w < pending_words_; ++w) {
      // Words that closed up behind the cumulative number have been cleared.
      const Psn base = pending_base_ + static_cast<uint32_t>(64 * w);
      const bool behind = Distance(base, cumulative_) >= 64;
      ack.arrived[w] = behind ? ~uint64_t{0} : WordAt(base);
      if (!behind && Before(base, cumulative_)) {
        ack.arrived[w] |= ~(~uint64_t{0} << Distance(base, cumulative_));
      }
      ack.marked[w] = marked_[w];
    }
    ack.words = pending_words_;
  }
  if (echo_valid_ || probe_echo_) {
    ack.flags = probe_echo_ ? AckHeader::kProbeEcho : AckHeader::kEcho;
    ack.echo = echo_;
    ack.attempt = echo_attempt_;
    ack.hold = std::max(Duration(0), departure - echo_arrived_);
    ack.records = records_;
    if (records_ > 0) ack.telemetry = telemetry_;
    ack.path_load = path_load_;
  }
  pending_ = echo_valid_ = probe_echo_ = ack_due_ = false;
  records_ = 0;
  path_load_ = 0;
  pending_bytes_ = Bytes(0);
  ack_at_ = Time::Never();
  if (extras_ > 0) {
    StartWords(extra_[0].base, extra_[0].marked);
    std::copy(extra_.begin() + 1, extra_.begin() + extras_, extra_.begin());
    --extras_;
    ack_due_ = true;
  }
  ++shared_.counters.acks_sent;
}

// --- Placement ---

Cause Receiver::Place(const DataHeader& h, std::span<const std::byte> payload, bool& placed) {
  return (h.flags & DataHeader::kWrite) != 0 ? PlaceWrite(h, payload, placed)
                                             : PlaceSend(h, payload, placed);
}

Cause Receiver::PlaceSend(const DataHeader& h, std::span<const std::byte> payload, bool& placed) {
  if (h.address + h.payload > h.length) return Cause::kBadAddress;
  uint32_t before = Pool<RxMessage>::kNone;
  uint32_t index = buffers_.front();
  while (index != Pool<RxMessage>::kNone && shared_.rx_messages[index].key != h.target) {
    before = index;
    index = shared_.rx_messages[index].next;
  }
  if (index == Pool<RxMessage>::kNone) return Cause::kNone;  // no buffer yet
  RxMessage& buffer = shared_.rx_messages[index];
  if (!buffer.begun) {
    buffer.begun = true;
    buffer.length = h.length;
  }
  if (h.length > buffer.capacity) return Cause::kTooLong;
  if (h.length != buffer.length) return Cause::kBadAddress;
  buffer.to.Put(h.address, payload);
  placed = true;
  buffer.arrived += h.payload;
  if (buffer.arrived < buffer.length) return Cause::kNone;
  shared_.completions.Push({.event = Event::kReceived,
                            .connection = id_,
                            .cookie = buffer.cookie,
                            .bytes = buffer.length});
  buffers_.RemoveAfter(shared_.rx_messages, before);
  shared_.rx_messages.Give(index);
  return Cause::kNone;
}

Cause Receiver::PlaceWrite(const DataHeader& h, std::span<const std::byte> payload, bool& placed) {
  if (h.target >= shared_.regions.size() || !shared_.regions[h.target].open) {
    return Cause::kBadAddress;
  }
  const Region& region = shared_.regions[h.target];
  if (h.address > region.size || h.payload > region.size - h.address) return Cause::kBadAddress;
  if ((h.flags & DataHeader::kNotify) != 0 && !AddToWrite(h)) return Cause::kNone;
  region.to.Put(h.address, payload);
  placed = true;
  return Cause::kNone;
}

// Counts a packet of a notifying write and completes it with the last. False: no room.
bool Receiver::AddToWrite(const DataHeader& h) {
  uint32_t before = Pool<RxMessage>::kNone;
  uint32_t index = writes_.front();
  while (index != Pool<RxMessage>::kNone && shared_.rx_messages[index].key != h.message) {
    before = index;
    index = shared_.rx_messages[index].next;
  }
  if (index == Pool<RxMessage>::kNone) {
    const bool whole = h.payload == h.length;
    if ((!whole && shared_.rx_messages.exhausted()) || !shared_.completions.Reserve()) return false;
    if (!whole) {
      index = shared_.rx_messages.Take();
      shared_.rx_messages[index] =
          RxMessage{.key = h.message, .length = h.length, .arrived = h.payload};
      writes_.PushBack(shared_.rx_messages, index);
      return true;
    }
  } else {
    RxMessage& write = shared_.rx_messages[index];
    write.arrived += h.payload;
    if (write.arrived < write.length) return true;
    writes_.RemoveAfter(shared_.rx_messages, before);
    shared_.rx_messages.Give(index);
  }
  shared_.completions.Push(
      {.event = Event::kReceived, .connection = id_, .cookie = h.message, .bytes = h.length});
  return true;
}

}  // namespace weir
