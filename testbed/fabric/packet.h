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

// The first cache line is what switches look at; headers follow, and the payload stands apart.
struct alignas(64) Packet {
  uint32_t next = kNoPacket;  // Pool
  uint32_t to = 0;            // host
  uint32_t flow_hash = 0;     // over addresses and ports
  uint32_t from_link = 0;     // the link it came by
  uint16_t wire = 0;          // bytes on the wire, FCS included
  uint16_t header = 0;        // bytes used of `bytes`
  uint16_t payload = 0;
  FrameClass cls = FrameClass::kData;
  bool ecn_capable = false;
  bool marked = false;
  bool trimmable = false;
  bool trimmed = false;
  bool trimmed_last_hop = false;
  bool telemetry = false;
  uint32_t sequence = 0;  // for the trace
  std::byte* payload_bytes = nullptr;  // owned; nullptr: content does not matter
  std::byte bytes[kFrameHeaderRoom];
};

// All packets of a fabric. Payload copies are the only allocation, and only where content matters.
class PacketPool {
 public:
  explicit PacketPool(uint32_t capacity) : pool_(capacity) {}
  ~PacketPool() {
    for (PacketId id = 0; id < pool_.touched(); ++id) DropPayload(pool_[id]);
  }
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;

  // kNoPacket when all are in use.
  PacketId Take() { return pool_.Take(); }
  void Give(PacketId id) {
    DropPayload(pool_[id]);
    pool_.Give(id);
  }
  Packet& operator[](PacketId id) { return pool_[id]; }
  void Prefetch(PacketId id) const { __builtin_prefetch(&pool_[id]); }
  PacketId IdOf(const Packet* packet) const { return pool_.IndexOf(packet); }
  uint32_t used() const { return pool_.used(); }

  void CopyPayload(Packet& packet, std::span<const std::byte> payload) {
    packet.payload_bytes = new std::byte[payload.size()];
    std::memcpy(packet.payload_bytes, payload.data(), payload.size());
  }
  void DropPayload(Packet& packet) {
    delete[] packet.payload_bytes;
    packet.payload_bytes = nullptr;
  }

 private:
  Pool<Packet> pool_;
};

}  // namespace weir
