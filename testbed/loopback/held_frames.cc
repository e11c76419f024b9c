#include "testbed/loopback/held_frames.h"

#include <cstring>

#include "testbed/fabric/frames.h"

namespace weir {

void HeldFrames::Take(PacketId id, const Frame& frame, uint32_t header) {
  Packet& packet = (*packets_)[id];
  frames_[id] = frame;
  packet.lent = true;
  const std::byte* payload = frame.payload_size > 0 ? frame.payload : frame.data + header;
  const bool any = frame.payload_size > 0 || frame.size > header;
  packet.payload_bytes = any ? const_cast<std::byte*>(payload) : nullptr;
  std::memcpy(packets_->Headers(packet), frame.data, header);
}

Frame HeldFrames::Written(PacketId id) {
  Packet& packet = (*packets_)[id];
  Frame frame = frames_[id];
  std::memcpy(frame.data, packets_->Headers(packet), packet.header);
  if (frame.payload_size > 0) {
    frame.payload_size = packet.payload;
  } else {
    frame.size = packet.header + packet.payload;
  }
  return frame;
}

Frame HeldFrames::Release(PacketId id) {
  Packet& packet = (*packets_)[id];
  const Frame frame = Written(id);
  WriteFate(packet, {frame.data, packet.header});
  packet.lent = false;
  packet.payload_bytes = nullptr;
  return frame;
}

void HeldFrames::Drop(PacketId id) { far_end_->Drop({&frames_[id], 1}); }

bool HeldFrames::Copy(PacketId from, PacketId to) {
  Frame copy;
  if (!far_end_->Copy(Written(from), copy)) return false;
  if (from == to) Drop(from);
  frames_[to] = copy;
  Packet& packet = (*packets_)[to];
  packet.lent = true;
  packet.payload_bytes = packet.payload > 0 ? copy.data + packet.header : nullptr;
  return true;
}

}  // namespace weir
