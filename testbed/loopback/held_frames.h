// The frames of real ports that are on their way through a fabric.
#pragma once

#include <vector>

#include "nic_drivers/dpdk/ring_pair.h"
#include "testbed/fabric/packet.h"

namespace weir {

// By packet. Headers are in the packet pool while a packet is under way; the payload stays where
// the sender has it.
class HeldFrames final : public FrameKeeper {
 public:
  explicit HeldFrames(uint32_t packets_max) : frames_(packets_max) {}
  // Before the first frame; the far end outlives this.
  void set_pool(PacketPool& packets) { packets_ = &packets; }
  void set_far_end(RingFarEnd& far_end) { far_end_ = &far_end; }

  // Takes over `frame`, whose headers are `header` bytes long.
  void Take(PacketId id, const Frame& frame, uint32_t header);
  // The frame as the fabric leaves it: with the packet's headers, cut where it was trimmed. It is
  // the caller's from here on.
  Frame Release(PacketId id);

  void Drop(PacketId id) override;
  bool Copy(PacketId from, PacketId to) override;

 private:
  Frame Written(PacketId id);

  std::vector<Frame> frames_;
  PacketPool* packets_ = nullptr;
  RingFarEnd* far_end_ = nullptr;  // any: all take each other's frames
};

}  // namespace weir
