// How a set of RC queue pairs is opened: datagrams of UDP beside PeerMessage's, on the same port.
//
//   opener                        the other
//   kOpen, until it is answered ->
//                              <- kAccept, for each kOpen of the same nonce the same one,
//                                 or kRefuse
//   kConfirm, for each kAccept ->
//
// What the other is sent before kConfirm arrives says as much as kConfirm.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datapath/wire.h"
#include "nic_drivers/verbs/name.h"

namespace weir {

inline constexpr uint32_t kLinkRegionsMax = 16;

struct LinkMessage {
  enum class Kind : uint8_t { kOpen, kAccept, kRefuse, kConfirm };
  struct Pair {
    uint32_t number = 0;  // of the queue pair, 24 bits
    uint32_t psn = 0;     // of its first packet, 24 bits
    friend bool operator==(const Pair&, const Pair&) = default;
  };
  // Memory of the sender's that the receiver may write to.
  struct Region {
    uint64_t base = 0;
    uint64_t size = 0;
    uint32_t key = 0;
    friend bool operator==(const Region&, const Region&) = default;
  };
  Kind kind = Kind::kOpen;
  uint8_t mtu = 1;  // of the sender's port, ibv_mtu: [1, 5]
  uint8_t dscp = 0;
  NetAddress address{};           // of the sender; no MAC
  std::array<uint8_t, 16> gid{};  // of the sender
  uint64_t nonce = 0;             // of the opener's attempt
  std::vector<Pair> pairs{};      // path by path, at most kVerbsPathsMax; of kOpen and kAccept >= 1
  std::vector<Region> regions{};  // at most kLinkRegionsMax
};

inline constexpr size_t kLinkMessageMax = 56 + 8 * kVerbsPathsMax + 20 * kLinkRegionsMax;  // bytes

std::vector<std::byte> Encode(const LinkMessage& message);
// False: it is none, of another version, or makes no sense.
bool Decode(std::span<const std::byte> bytes, LinkMessage& message);

}  // namespace weir
