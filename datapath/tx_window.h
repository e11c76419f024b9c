// What was sent and is not yet known to have arrived.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "datapath/api/signals.h"
#include "datapath/api/units.h"
#include "datapath/check.h"
#include "datapath/pool.h"

namespace weir {

enum class TxState : uint8_t { kInFlight, kLost, kAcked };

// One packet between its first transmission and its acknowledgement.
struct TxRecord {
  Time sent{};            // first bit of the last transmission on the wire
  uint32_t send_seq = 0;  // counts transmissions of the connection; wraps
  uint32_t message = 0;   // pool index
  uint32_t piece = 0;     // which packet of the message
  uint16_t size = 0;      // on the wire
  PathId path = 0;
  uint16_t next = 0;  // in the list of its state
  uint16_t prev = 0;
  uint8_t attempt = 0;  // transmissions - 1, modulo 256
  TxState state = TxState::kInFlight;
};

inline constexpr uint32_t kPageRecords = 64;

// Records of 64 neighbouring packets, from a pool shared by an endpoint's connections, so that an
// idle connection holds none.
struct TxPage {
  uint64_t acked = 0;  // bit i: records[i] is acknowledged
  std::array<TxRecord, kPageRecords> records{};
  uint32_t next = 0;  // Pool
};

// The records of one connection by packet number, and two lists through them: in flight, in order
// of transmission; lost, in order of detection.
class TxWindow {
 public:
  static constexpr uint32_t kPages = 64;
  static constexpr uint32_t kCapacity = kPages * kPageRecords;
  static constexpr uint32_t kUsable = kCapacity - kPageRecords;  // a page is never shared by two
  static constexpr uint16_t kNil = 0xFFFF;

  TxWindow() { pages_.fill(Pool<TxPage>::kNone); }
  void Reset(Pool<TxPage>& pool, Psn first);
  void ReleaseAll();

  Psn una() const { return una_; }    // oldest unacknowledged
  Psn next() const { return next_; }  // next new packet
  uint32_t span() const { return static_cast<uint32_t>(Distance(una_, next_)); }
  bool empty() const { return una_ == next_; }

  // Whether a packet can be appended below `limit` <= kUsable packets.
  bool HasRoom(uint32_t limit) const {
    return span() < limit && (HasPage(next_) || !pool_->exhausted());
  }
  // Takes the next number; the record is in no list yet.
  TxRecord& Append();

  // nullptr outside [una, next).
  TxRecord* Find(Psn psn) {
    return static_cast<uint32_t>(Distance(una_, psn)) < span() ? &At(Slot(psn)) : nullptr;
  }
  TxRecord& At(uint16_t slot) {
    return (*pool_)[pages_[slot / kPageRecords]].records[slot % kPageRecords];
  }
  const TxRecord& At(uint16_t slot) const {
    return (*pool_)[pages_[slot / kPageRecords]].records[slot % kPageRecords];
  }
  static uint16_t Slot(Psn psn) { return static_cast<uint16_t>(psn.value() % kCapacity); }

  // The packet in [una, una + kCapacity) that has the slot.
  Psn PsnAt(uint16_t slot) const {
    return una_ + static_cast<uint32_t>(slot - Slot(una_)) % kCapacity;
  }

  // Calls fn(psn, record) for each packet in 64 from `base` (a multiple of 64) whose bit is set and
  // that was not acknowledged before; marks it so.
  template <class Fn>
  void AckWord(Psn base, uint64_t bits, Fn&& fn);
  // The same for all before `cumulative`, which is in [una, next]; frees what is behind.
  template <class Fn>
  void AckBelow(Psn cumulative, Fn&& fn);

  // A list by its ends.
  struct List {
    uint16_t head = kNil;
    uint16_t tail = kNil;
    bool empty() const { return head == kNil; }
  };
  List in_flight;
  List lost;
  void PushBack(List& list, uint16_t slot);
  void Remove(List& list, uint16_t slot);

 private:
  bool HasPage(Psn psn) const { return pages_[Slot(psn) / kPageRecords] != Pool<TxPage>::kNone; }

  Pool<TxPage>* pool_ = nullptr;  // the endpoint's
  Psn una_{};
  Psn next_{};
  std::array<uint32_t, kPages> pages_;
};

template <class Fn>
void TxWindow::AckWord(Psn base, uint64_t bits, Fn&& fn) {
  // Bits outside [una, next) say nothing: cut them off.
  const int32_t below = Distance(base, una_);
  const int32_t above = Distance(base, next_);
  if (below >= 64 || above <= 0) return;
  if (below > 0) bits &= ~uint64_t{0} << below;
  if (above < 64) bits &= ~(~uint64_t{0} << above);
  if (bits == 0) return;
  TxPage& page = (*pool_)[pages_[Slot(base) / kPageRecords]];
  uint64_t fresh = bits & ~page.acked;
  page.acked |= fresh;
  for (; fresh != 0; fresh &= fresh - 1) {
    const auto bit = static_cast<uint32_t>(std::countr_zero(fresh));
    fn(base + bit, page.records[bit]);
  }
}

template <class Fn>
void TxWindow::AckBelow(Psn cumulative, Fn&& fn) {
  while (Before(una_, cumulative)) {
    const Psn base(una_.value() & ~(kPageRecords - 1));
    const int32_t end = Distance(base, cumulative);
    const bool whole = end >= static_cast<int32_t>(kPageRecords);
    AckWord(base, whole ? ~uint64_t{0} : ~(~uint64_t{0} << end), fn);
    una_ = whole ? base + kPageRecords : cumulative;
    if (whole) {
      uint32_t& page = pages_[Slot(base) / kPageRecords];
      pool_->Give(page);
      page = Pool<TxPage>::kNone;
    }
  }
  if (!empty() || !HasPage(una_)) return;
  uint32_t& page = pages_[Slot(una_) / kPageRecords];  // what is left of it is not needed
  pool_->Give(page);
  page = Pool<TxPage>::kNone;
}

}  // namespace weir
