// Collectives with a root: from one to all, or from all to one.
#include <array>
#include <bit>
#include <vector>

#include "testbed/traffic/collectives/parts.h"

namespace weir {
namespace {

// In round k, those who have it (or have nothing left to wait for) pair with those at distance 2^k
// from the root.
Plan Binomial(const CollectiveShape& s) {
  Plan plan;
  const auto rank_at = [&](uint32_t distance) { return (s.root + distance) % s.ranks; };
  const int rounds = std::bit_width(s.ranks - 1);
  const bool down = s.kind == CollectiveKind::kBroadcast;
  ForPieces(s.size, s.protocol.slice, [&](Bytes piece) {
    std::vector<std::vector<uint32_t>> got(s.ranks);  // by distance
    for (int i = 0; i < rounds; ++i) {
      const uint32_t step = 1u << (down ? i : rounds - 1 - i);
      for (uint32_t near = 0; near < step && near + step < s.ranks; ++near) {
        const uint32_t from = down ? near : near + step;
        const uint32_t to = down ? near + step : near;
        got[to].push_back(plan.Add({.from = rank_at(from),
                                    .to = rank_at(to),
                                    .via = rank_at(from),
                                    .channel = 0,
                                    .size = OnWire(s.protocol, piece)},
                                   got[from]));
      }
    }
  });
  return plan;
}

// Everything at once: an incast, or its reverse.
Plan Direct(const CollectiveShape& s) {
  Plan plan;
  for (uint32_t k = 1; k < s.ranks; ++k) {
    const uint32_t other = (s.root + k) % s.ranks;
    const bool in = s.kind == CollectiveKind::kGather;
    ForPieces(CeilDiv(s.size, s.ranks), s.protocol.slice, [&](Bytes piece) {
      plan.Add({.from = in ? other : s.root,
                .to = in ? s.root : other,
                .via = in ? other : s.root,
                .channel = 0,
                .size = OnWire(s.protocol, piece),
                .ordered = false});
    });
  }
  return plan;
}

}  // namespace

Plan PlanRooted(const CollectiveShape& s) {
  return s.algorithm == CollectiveAlgorithm::kDirect ? Direct(s) : Binomial(s);
}

}  // namespace weir
