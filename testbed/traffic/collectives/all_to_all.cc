// All-to-all, even or not.
#include <bit>
#include <vector>

#include "testbed/traffic/collectives/parts.h"

namespace weir {
namespace {

constexpr Bytes kP2pChunk = KiB(128);  // NCCL_P2P_NET_CHUNKSIZE
constexpr Bytes kP2pLarge = MiB(1);    // from here on whole chunks are sent
constexpr uint32_t kGroup = 8;         // ranks whose distances are visited together

Bytes SizeBetween(const CollectiveShape& s, uint32_t from, uint32_t to) {
  if (!s.matrix.empty()) return s.matrix[static_cast<size_t>(from) * s.ranks + to];
  return CeilDiv(s.size, s.ranks);
}

// What NCCL's send and receive put on the network at once.
Bytes PieceOf(const Protocol& protocol, Bytes size) {
  if (protocol.whole) return protocol.slice;
  if (size < kP2pChunk) return std::max(Bytes(1), CeilDiv(kP2pChunk, 4));
  return size < kP2pLarge ? CeilDiv(kP2pChunk, 2) : kP2pChunk;
}

// NCCL's order of distances: groups of ranks at distances 0, 1, 3, 6, 10, ... mod a power of two,
// and within a group pair all of its distances.
std::vector<uint32_t> Distances(uint32_t ranks) {
  if (ranks % kGroup != 0) {
    std::vector<uint32_t> plain;
    for (uint32_t d = 1; d < ranks; ++d) plain.push_back(d);
    return plain;
  }
  const uint32_t groups = ranks / kGroup;
  const uint32_t power = std::bit_ceil(groups);
  std::vector<uint32_t> out;
  uint32_t group = 0;
  for (uint32_t k = 0; k < power; ++k) {
    group = (group + k) & (power - 1);
    if (group >= groups) continue;
    for (uint32_t d = 0; d < kGroup; ++d) {
      const uint32_t distance = group * kGroup + d;
      if (distance != 0) out.push_back(distance);
    }
  }
  return out;
}

}  // namespace

Plan PlanAllToAll(const CollectiveShape& s) {
  Plan plan;
  const std::vector<uint32_t> distances = Distances(s.ranks);
  // A rank begins with a peer when the one that many before is acknowledged.
  const uint32_t width = s.algorithm == CollectiveAlgorithm::kDirect ? s.ranks : s.concurrent_peers;
  const uint32_t g = s.ranks_per_node;
  for (uint32_t rank = 0; rank < s.ranks; ++rank) {
    std::vector<uint32_t> last;  // message of each round
    for (const uint32_t distance : distances) {
      const uint32_t to = (rank + distance) % s.ranks;
      const uint32_t after = last.size() < width ? kNoMessage : last[last.size() - width];
      const bool pxn = s.algorithm == CollectiveAlgorithm::kPxn && rank / g != to / g;
      uint32_t message = after;
      const Bytes size = SizeBetween(s, rank, to);
      ForPieces(size, PieceOf(s.protocol, size), [&](Bytes piece) {
        message = plan.Add({.from = rank,
                            .to = to,
                            .via = pxn ? RankAt(s, rank / g, to % g) : rank,
                            .channel = 0,
                            .size = OnWire(s.protocol, piece),
                            .ordered = false,
                            .after_sent = after});
      });
      last.push_back(message);
    }
  }
  return plan;
}

}  // namespace weir
