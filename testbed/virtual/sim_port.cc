#include "testbed/virtual/sim_port.h"

#include <algorithm>

namespace weir {
namespace {

constexpr uint32_t kFirstV4 = 0x0A00'0001;           // 10.0.0.1
constexpr uint64_t kV6High = 0xFD00'0000'0000'0000;  // fd00::
constexpr uint64_t kMacBase = 0x0200'0000'0000;      // locally administered

uint32_t Load32(const std::byte* p) {
  uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap32(v);
}

}  // namespace

NetAddress HostAddress(uint32_t host, bool v6) {
  return v6 ? NetAddress::V6(kV6High, host + 1, kMacBase + host)
            : NetAddress::V4(kFirstV4 + host, kMacBase + host);
}

uint32_t HostOf(const NetAddress& address) {
  return address.v6 ? address.v4() - 1 : address.v4() - kFirstV4;
}

void SimPort::Accept(Time now, PacketId packet) { received_.push_back({now, packet}); }

// A NIC writes what the fabric did to a packet into its headers: here the model does.
size_t SimPort::RxBurst(std::span<Frame> out) {
  size_t n = 0;
  const size_t most = std::min(out.size(), kBurst);
  for (; n < most && head_ < received_.size(); ++n, ++head_) {
    const Received& r = received_[head_];
    Packet& packet = packets_[r.packet];
    std::byte* headers = packets_.Headers(packet);
    if (packet.marked) MarkFrame({headers, packet.header});
    if (packet.trimmed) {
      SetFrameDscp({headers, packet.header},
                   packet.trimmed_last_hop ? kDscpTrimmedLastHop : kDscpTrimmed);
    }
    out[n] = {.data = headers,
              .size = packet.header,
              .payload_size = packet.payload,
              .payload = packet.payload_bytes,
              .rx_time = r.at,
              .owner = &packet};
  }
  if (head_ == received_.size()) {
    received_.clear();
    head_ = 0;
  }
  return n;
}

void SimPort::Release(std::span<const Frame> frames) {
  for (const Frame& frame : frames) packets_.Give(packets_.IdOf(static_cast<Packet*>(frame.owner)));
}

size_t SimPort::TxFrames(std::span<Frame> out) {
  const uint32_t waiting = fabric_.HostQueue(now_, host_);
  const size_t room = waiting >= kRing ? 0 : kRing - waiting;
  size_t n = 0;
  for (; n < std::min(out.size(), room); ++n) {
    const PacketId id = packets_.Take();
    if (id == kNoPacket) break;
    out[n] = {.data = packets_.Headers(packets_[id]), .owner = &packets_[id]};
  }
  tx_short_ = n < out.size();
  return n;
}

void SimPort::TxBurst(std::span<const Frame> frames) {
  for (const Frame& frame : frames) {
    auto* packet = static_cast<Packet*>(frame.owner);
    const PacketId id = packets_.IdOf(packet);
    if (frame.size == 0) {
      packets_.Give(id);
      continue;
    }
    const bool v6 = (static_cast<uint8_t>(frame.data[kEthernetBytes]) >> 4) == 6;
    const std::byte* destination = frame.data + kEthernetBytes + (v6 ? 36 : 16);
    const uint32_t address = Load32(destination);
    packet->to = v6 ? address - 1 : address - kFirstV4;
    const uint32_t ports = Load32(frame.data + kEthernetBytes + IpBytes(v6));
    packet->flow_hash = static_cast<uint32_t>(
        Mix64(Mix64(static_cast<uint64_t>(host_) << 32 | packet->to) ^ ports));
    packet->header = static_cast<uint16_t>(frame.size);
    packet->payload = static_cast<uint16_t>(frame.payload_size);
    packet->wire = static_cast<uint16_t>(frame.size + frame.payload_size + kFcsBytes);
    packet->cls = frame.cls;
    const bool data = frame.cls != FrameClass::kControl;
    packet->ecn_capable = packet->trimmable = data;
    packet->marked = packet->trimmed = packet->trimmed_last_hop = false;
    packet->telemetry = data;  // AppendTelemetry looks for the room
    packet->sequence = sequence_++;
    if (frame.payload != nullptr && frame.payload_size > 0) {
      packets_.CopyPayload(*packet, {frame.payload, frame.payload_size});
    }
    fabric_.Inject(now_, host_, id);
  }
}

}  // namespace weir
