// Deadlines by the nanosecond.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>

#include "datapath/api/units.h"
#include "datapath/check.h"

namespace weir {

// Deadlines of a fixed set of timers, exact to the nanosecond: arm, move, cancel and expire in
// constant time, no allocation after construction. Equal deadlines expire in the order armed.
//
// A timer stands at the level of the highest 6-bit digit in which its deadline differs from the
// clock, and moves down a level each time the clock enters its slot.
// Source: Varghese, Lauck, "Hashed and hierarchical timing wheels", SOSP 1987.
class TimerWheel {
 public:
  using Id = uint32_t;
  static constexpr Id kNone = 0xFFFF'FFFF;

  explicit TimerWheel(uint32_t timers) : nodes_(new Node[timers]), timers_(timers) {
    for (auto& level : heads_) level.fill(kNone);
  }

  bool armed(Id id) const { return nodes_[id].level != kIdle; }
  // Time::Never() unless armed.
  Time deadline(Id id) const { return armed(id) ? Time(nodes_[id].deadline) : Time::Never(); }

  // Arms or moves. A deadline in the past expires at once; Never disarms.
  void Arm(Id id, Time deadline) {
    WEIR_DCHECK(id < timers_);
    if (armed(id)) Unlink(id);
    if (deadline == Time::Never()) return;
    nodes_[id].deadline = deadline.nanos() > clock_ ? deadline.nanos() : clock_;
    Link(id);
  }
  void Disarm(Id id) {
    if (armed(id)) Unlink(id);
  }

  // The next timer at or before `until`, disarmed, or kNone. The clock follows.
  Id PopDue(Time until) {
    const int64_t limit = until.nanos();
    while (true) {
      const int level = LowestLevel();
      if (level == kLevels) break;
      const int slot = FirstSlot(level);
      const int64_t start = SlotStart(level, slot);
      if (start > limit) break;
      if (start > clock_) clock_ = start;
      if (level == 0) {
        const Id id = heads_[0][slot];
        Unlink(id);
        return id;
      }
      Cascade(level, slot);
    }
    // Every occupied slot starts after `limit`, so no timer has to change its level.
    if (limit > clock_ && until != Time::Never()) clock_ = limit;
    return kNone;
  }

  // Which timer is probably next; kNone if it is not nearly due. Only a hint: for prefetching.
  Id Peek() const { return occupied_[0] == 0 ? kNone : heads_[0][FirstSlot(0)]; }

  // A time no later than the earliest deadline, exact when that timer is nearly due; Never if none.
  Time Earliest() const {
    const int level = LowestLevel();
    if (level == kLevels) return Time::Never();
    const int slot = FirstSlot(level);
    if (level == 0) return Time(SlotStart(0, slot));
    // A short list is worth reading: the caller is spared an early wake-up.
    const Id head = heads_[level][slot];
    int64_t best = nodes_[head].deadline;
    Id id = nodes_[head].next;
    for (int i = 0; i < kScan && id != head; ++i, id = nodes_[id].next) {
      if (nodes_[id].deadline < best) best = nodes_[id].deadline;
    }
    return Time(id == head ? best : SlotStart(level, slot));
  }

  // Time of the last expiry or call of PopDue.
  Time clock() const { return Time(clock_); }

 private:
  static constexpr int kBits = 6;
  static constexpr int kSlots = 1 << kBits;
  static constexpr int kLevels = 11;  // 66 bits: every time there is
  static constexpr uint8_t kIdle = 0xFF;
  static constexpr int kScan = 8;

  struct Node {
    int64_t deadline = 0;
    Id next = kNone;  // circular; the head's prev is the tail
    Id prev = kNone;
    uint8_t level = kIdle;
    uint8_t slot = 0;
  };

  int LowestLevel() const { return levels_ == 0 ? kLevels : std::countr_zero(levels_); }
  int FirstSlot(int level) const { return std::countr_zero(occupied_[level]); }
  // When the clock enters that slot. Slots ahead of the clock's own digit only, so no wrap.
  int64_t SlotStart(int level, int slot) const {
    const int shift = level * kBits;
    if (level == kLevels - 1) return static_cast<int64_t>(slot) << shift;
    const int64_t above = clock_ >> (shift + kBits) << (shift + kBits);
    return above | (static_cast<int64_t>(slot) << shift);
  }
  void Link(Id id) {
    Node& node = nodes_[id];
    const uint64_t differs = static_cast<uint64_t>(node.deadline ^ clock_);
    const int level = differs == 0 ? 0 : (63 - std::countl_zero(differs)) / kBits;
    const int slot = static_cast<int>(node.deadline >> (level * kBits)) & (kSlots - 1);
    node.level = static_cast<uint8_t>(level);
    node.slot = static_cast<uint8_t>(slot);
    Id& head = heads_[level][slot];
    if (head == kNone) {
      head = node.next = node.prev = id;
      occupied_[level] |= uint64_t{1} << slot;
      levels_ |= 1u << level;
      return;
    }
    Node& first = nodes_[head];
    node.next = head;
    node.prev = first.prev;
    nodes_[first.prev].next = id;
    first.prev = id;
  }
  void Unlink(Id id) {
    Node& node = nodes_[id];
    Id& head = heads_[node.level][node.slot];
    if (node.next == id) {
      head = kNone;
      occupied_[node.level] &= ~(uint64_t{1} << node.slot);
      if (occupied_[node.level] == 0) levels_ &= ~(1u << node.level);
    } else {
      nodes_[node.prev].next = node.next;
      nodes_[node.next].prev = node.prev;
      if (head == id) head = node.next;
    }
    node.level = kIdle;
  }
  // The clock stands at the start of the slot: its timers belong further down.
  void Cascade(int level, int slot) {
    Id id = heads_[level][slot];
    const Id last = nodes_[id].prev;
    heads_[level][slot] = kNone;
    occupied_[level] &= ~(uint64_t{1} << slot);
    if (occupied_[level] == 0) levels_ &= ~(1u << level);
    while (true) {
      const Id next = nodes_[id].next;
      Link(id);
      if (id == last) return;
      id = next;
    }
  }

  std::unique_ptr<Node[]> nodes_;
  uint32_t timers_;
  int64_t clock_ = 0;
  uint32_t levels_ = 0;  // bit l: some slot of level l is occupied
  std::array<uint64_t, kLevels> occupied_{};
  std::array<std::array<Id, kSlots>, kLevels> heads_;
};

}  // namespace weir
