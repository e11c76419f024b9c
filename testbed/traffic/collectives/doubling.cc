// Collectives in a logarithmic number of steps: halving and doubling, and NCCL's PAT.
#include <array>
#include <bit>
#include <vector>

#include "testbed/traffic/collectives/parts.h"

namespace weir {
namespace {

// Steps in which every rank sends at once; what it sends needs all that it received in the step
// before.
class Steps {
 public:
  Steps(const CollectiveShape& shape, Plan& plan)
      : shape_(shape), plan_(plan), got_(shape.ranks), getting_(shape.ranks) {}

  // Rank r sends `size` bytes of payload to peer(r).
  template <class Peer>
  void Add(Bytes size, Peer peer) {
    if (size <= Bytes(0)) return;
    for (uint32_t rank = 0; rank < shape_.ranks; ++rank) {
      const uint32_t to = peer(rank);
      for (uint32_t channel = 0; channel < shape_.channels; ++channel) {
        const Bytes share = ShareOf(size, channel, shape_.channels);
        ForPieces(share, shape_.protocol.slice, [&](Bytes piece) {
          getting_[to].push_back(plan_.Add({.from = rank,
                                            .to = to,
                                            .via = rank,
                                            .channel = channel,
                                            .size = OnWire(shape_.protocol, piece)},
                                           got_[rank]));
        });
      }
    }
    got_ = std::move(getting_);
    getting_.assign(shape_.ranks, {});
  }

 private:
  const CollectiveShape& shape_;
  Plan& plan_;
  std::vector<std::vector<uint32_t>> got_;      // by rank, in the last step
  std::vector<std::vector<uint32_t>> getting_;  // in this one
};

}  // namespace

// Rabenseifner: in step k half of what is left is exchanged with the rank at distance 2^k; an
// all-gather is the same backwards.
Plan PlanHalvingDoubling(const CollectiveShape& s) {
  Plan plan;
  Steps steps(s, plan);
  const int rounds = std::bit_width(s.ranks) - 1;
  const auto exchange = [&](int k) {
    steps.Add(CeilDiv(s.size, 2u << k), [&](uint32_t rank) { return rank ^ (1u << k); });
  };
  if (s.kind != CollectiveKind::kAllGather) {
    for (int k = 0; k < rounds; ++k) exchange(k);
  }
  if (s.kind != CollectiveKind::kReduceScatter) {
    for (int k = rounds - 1; k >= 0; --k) exchange(k);
  }
  return plan;
}

// Parallel aggregated trees: the far distances carry one block, the near ones half of them. A
// reduce-scatter is the same backwards.
Plan PlanPat(const CollectiveShape& s) {
  Plan plan;
  Steps steps(s, plan);
  const Bytes block = CeilDiv(s.size, s.ranks);
  const int rounds = std::bit_width(s.ranks - 1);
  // Blocks that go over distance 2^k: those held, by distance, that do not lead past the last rank.
  std::vector<uint32_t> held{0};
  std::vector<uint32_t> blocks(static_cast<size_t>(rounds));
  for (int k = rounds - 1; k >= 0; --k) {
    const std::vector<uint32_t> before = held;
    for (const uint32_t distance : before) {
      if (distance + (1u << k) < s.ranks) held.push_back(distance + (1u << k));
    }
    blocks[static_cast<size_t>(k)] = static_cast<uint32_t>(held.size() - before.size());
  }
  const auto gather = [&](int k) {
    steps.Add(block * blocks[static_cast<size_t>(k)],
              [&](uint32_t rank) { return (rank + (1u << k)) % s.ranks; });
  };
  const auto scatter = [&](int k) {
    steps.Add(block * blocks[static_cast<size_t>(k)],
              [&](uint32_t rank) { return (rank + s.ranks - (1u << k)) % s.ranks; });
  };
  if (s.kind == CollectiveKind::kReduceScatter) {
    for (int k = 0; k < rounds; ++k) scatter(k);
  } else {
    for (int k = rounds - 1; k >= 0; --k) gather(k);
  }
  return plan;
}

}  // namespace weir
