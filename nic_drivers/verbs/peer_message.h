// What two devices tell each other before frames can go: a datagram of UDP on the device's own IP
// address, port kPeerPort. A question is answered, and whoever asks tells its own side along with
// it, so that one exchange serves both ways.
//
// Not rdma_cm's: the private data of its answer for UD (136 bytes) hold the numbers of some thirty
// queue pairs, and a device has one for each queue and path.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datapath/wire.h"

namespace weir {

inline constexpr uint16_t kPeerPort = kUdpPort - 1;
// Of a device, all queues together.
inline constexpr uint32_t kVerbsQueuePairsMax = 320;

struct PeerMessage {
  bool question = false;
  NetAddress address{};           // of the sender, with its MAC address
  std::array<uint8_t, 16> gid{};  // of the sender
  uint32_t key = 0;               // Q_Key of all of its queue pairs
  uint32_t queues = 0;            // [1, kWorkersMax]
  std::vector<uint32_t> pairs{};  // numbers of queue pairs, 24 bits: queue by queue, path by path
};

inline constexpr size_t kPeerMessageMax = 64 + 4 * kVerbsQueuePairsMax;  // bytes

std::vector<std::byte> Encode(const PeerMessage& message);
// False: it is none, of another version, or makes no sense.
bool Decode(std::span<const std::byte> bytes, PeerMessage& message);

}  // namespace weir
