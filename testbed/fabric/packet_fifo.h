// First in, first out, in a ring that grows: a queue or a link.
#pragma once

#include <cstdint>
#include <memory>

#include "datapath/api/units.h"
#include "testbed/fabric/packet.h"

namespace weir {

// What a queue needs to know of a packet without looking at it: most packets are then touched once
// a hop.
struct QueuedPacket {
  Time arrival{};  // of the last bit at the end of the link; only on a link
  PacketId id = kNoPacket;
  uint16_t wire = 0;
  bool markable = false;  // data that is ECN-capable and not marked yet
  bool traced = false;    // has room for telemetry
};

class PacketFifo {
 public:
  bool empty() const { return count_ == 0; }
  uint32_t packets() const { return count_; }
  Bytes bytes() const { return bytes_; }
  const QueuedPacket& front() const { return ring_[head_ & mask_]; }

  void PushBack(const QueuedPacket& packet) {
    if (count_ == capacity_) Grow();
    ring_[(head_ + count_) & mask_] = packet;
    ++count_;
    bytes_ += Bytes(packet.wire);
  }
  QueuedPacket PopFront() {
    const QueuedPacket packet = ring_[head_ & mask_];
    ++head_;
    --count_;
    bytes_ -= Bytes(packet.wire);
    return packet;
  }

 private:
  void Grow() {
    const uint32_t capacity = capacity_ == 0 ? 8 : 2 * capacity_;
    auto ring = std::make_unique<QueuedPacket[]>(capacity);
    for (uint32_t i = 0; i < count_; ++i) ring[i] = ring_[(head_ + i) & mask_];
    ring_ = std::move(ring);
    head_ = 0;
    capacity_ = capacity;
    mask_ = capacity - 1;
  }

  std::unique_ptr<QueuedPacket[]> ring_;
  uint32_t head_ = 0;
  uint32_t count_ = 0;
  uint32_t capacity_ = 0;
  uint32_t mask_ = 0;
  Bytes bytes_{};
};

}  // namespace weir
