// A frame inside the fabric.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "datapath/nic_port.h"
#include "datapath/pool.h"
#include "datapath/wire.h"

namespace weir {

using PacketId = uint32_t;
inline constexpr PacketId kNoPacket = 0xFFFF'FFFF;

// One cache line that switches look at; headers and payload stand apart.
struct alignas(64) Packet {
  uint32_t next = kNoPacket;  // Pool; in one queue or on one link
  uint32_t to = 0;            // host
  uint32_t flow_hash = 0;     // over addresses and ports
  uint32_t from_link = 0;     // the link it came by
  Time arrival{};             // of the last bit at the end of the present link
  uint16_t wire = 0;          // bytes on the wire, FCS included
  uint16_t header = 0;        // bytes of headers: PacketPool::Headers
  uint16_t payload = 0;
  FrameClass cls = FrameClass::kData;
  bool ecn_capable = false;
  bool marked = false;
  bool trimmable = false;
  bool trimmed = false;
  bool trimmed_last_hop = false;
  bool in_band = false;                // may have room for what switches write
  bool lent = false;                   // its content is a frame of somebody else: FrameKeeper
  uint8_t traffic_class = 0;           // of data
  uint32_t sequence = 0;               // for the trace
  std::byte* payload_bytes = nullptr;  // owned unless lent; nullptr: content does not matter
};
static_assert(sizeof(Packet) == 64);

// Keeps the frames of packets that are lent, for a fabric between real ports.
class FrameKeeper {
 public:
  virtual void Drop(PacketId id) = 0;
  // Makes the frame of `to`, which may be the same packet, a copy that is its own; false: there is
  // no room. Only what is lent is copied.
  virtual bool Copy(PacketId from, PacketId to) = 0;

 protected:
  ~FrameKeeper() = default;
};

// All packets of a fabric. Payload copies are the only allocation, and only where content matters.
class PacketPool {
 public:
  // `keeper` outlives the pool; nullptr: nothing is lent.
  explicit PacketPool(uint32_t capacity, FrameKeeper* keeper = nullptr)
      : pool_(capacity),
        keeper_(keeper),
        headers_(static_cast<std::byte*>(AllocateLarge(size_t{capacity} * kFrameHeaderRoom))) {}
  ~PacketPool() {
    for (PacketId id = 0; id < pool_.touched(); ++id) Clear(id);
    FreeLarge(headers_, size_t{pool_.capacity()} * kFrameHeaderRoom);
  }
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;

  // kNoPacket when all are in use.
  PacketId Take() { return pool_.Take(); }
  void Give(PacketId id) {
    Clear(id);
    pool_.Give(id);
  }
  Packet& operator[](PacketId id) { return pool_[id]; }
  void Prefetch(PacketId id) const { __builtin_prefetch(&pool_[id]); }
  // Its headers; room for kFrameHeaderRoom.
  std::byte* Headers(const Packet& packet) {
    return headers_ + size_t{pool_.IndexOf(&packet)} * kFrameHeaderRoom;
  }
  // Another of the same content; kNoPacket when all are in use.
  PacketId Copy(PacketId id) {
    const PacketId copy = pool_.Take();
    if (copy == kNoPacket) return copy;
    Packet& to = pool_[copy];
    const Packet& from = pool_[id];
    to = from;
    std::memcpy(Headers(to), Headers(from), from.header);
    if (from.lent) {
      if (keeper_->Copy(id, copy)) return copy;
      to.lent = false;
      to.payload_bytes = nullptr;
      pool_.Give(copy);
      return kNoPacket;
    }
    if (from.payload_bytes != nullptr) CopyPayload(to, {from.payload_bytes, from.payload});
    return copy;
  }
  // Before its content is changed: others may look at the same. False: it must stay as it is.
  bool Own(PacketId id) { return !pool_[id].lent || keeper_->Copy(id, id); }
  PacketId IdOf(const Packet* packet) const { return pool_.IndexOf(packet); }
  uint32_t used() const { return pool_.used(); }

  void CopyPayload(Packet& packet, std::span<const std::byte> payload) {
    packet.payload_bytes = new std::byte[payload.size()];
    std::memcpy(packet.payload_bytes, payload.data(), payload.size());
  }
  void DropPayload(Packet& packet) {
    if (!packet.lent) delete[] packet.payload_bytes;
    packet.payload_bytes = nullptr;
  }

 private:
  void Clear(PacketId id) {
    Packet& packet = pool_[id];
    DropPayload(packet);
    if (packet.lent) keeper_->Drop(id);
    packet.lent = false;
  }

  Pool<Packet> pool_;
  FrameKeeper* keeper_;
  std::byte* headers_;
};

}  // namespace weir
