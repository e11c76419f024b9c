#include "testbed/virtual/sim_port.h"

#include <algorithm>

#include "testbed/fabric/frames.h"

namespace weir {
void SimPort::Accept(Time now, PacketId packet) { received_.push_back({now, packet}); }

// A NIC writes what the fabric did to a packet into its headers: here the model does.
size_t SimPort::RxBurst(std::span<Frame> out) {
  size_t n = 0;
  const size_t most = std::min(out.size(), kBurst);
  for (; n < most && head_ < received_.size(); ++n, ++head_) {
    const Received& r = received_[head_];
    Packet& packet = packets_[r.packet];
    std::byte* headers = packets_.Headers(packet);
    WriteFate(packet, {headers, packet.header});
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
    DescribePacket({frame.data, frame.size}, frame.payload_size, frame.cls, host_, *packet);
    packet->sequence = sequence_++;
    if (frame.payload != nullptr && frame.payload_size > 0) {
      packets_.CopyPayload(*packet, {frame.payload, frame.payload_size});
    }
    if (tap_ != nullptr) tap_->OnInject(now_, host_, id, *packet, {frame.data, frame.size});
    fabric_.Inject(now_, host_, id);
  }
}

}  // namespace weir
