// In the node first, then along each rail, then in the node again: the network sees only rails.
#include <vector>

#include "testbed/traffic/collectives/parts.h"

namespace weir {
namespace {

using Received = std::vector<std::vector<uint32_t>>;  // messages, by rank

// Every rank sends `size` to each other rank of its node.
Received ExchangeInNodes(const CollectiveShape& s, Bytes size, const Received& needs, Plan& plan) {
  Received received(s.ranks);
  const uint32_t g = s.ranks_per_node;
  for (uint32_t rank = 0; rank < s.ranks; ++rank) {
    for (uint32_t k = 1; k < g; ++k) {
      const uint32_t to = RankAt(s, rank / g, (rank + k) % g);
      received[to].push_back(plan.Add(
          {.from = rank, .to = to, .via = rank, .channel = 0, .size = size, .ordered = false},
          needs[rank]));
    }
  }
  return received;
}

// The ring over the nodes, for every rail by itself.
Received RingOverRails(const CollectiveShape& s, Bytes size, const Received& needs, Plan& plan) {
  Received received(s.ranks);
  CollectiveShape ring = s;
  ring.ranks = NodesOf(s);
  ring.ranks_per_node = 1;
  ring.size = size;
  const Plan rail = PlanRing(ring);
  for (uint32_t local = 0; local < s.ranks_per_node; ++local) {
    const uint32_t base = static_cast<uint32_t>(plan.messages.size());
    for (PlanMessage m : rail.messages) {
      std::vector<uint32_t> needed;
      for (const uint32_t need : rail.NeedsOf(m)) needed.push_back(base + need);
      m.from = RankAt(s, m.from, local);
      m.to = RankAt(s, m.to, local);
      m.via = m.from;
      needed.insert(needed.end(), needs[m.from].begin(), needs[m.from].end());
      received[m.to].push_back(plan.Add(m, needed));
    }
  }
  return received;
}

}  // namespace

Plan PlanHierarchical(const CollectiveShape& s) {
  Plan plan;
  Received got(s.ranks);
  const Bytes share = CeilDiv(s.size, s.ranks_per_node);
  if (s.kind != CollectiveKind::kAllGather) got = ExchangeInNodes(s, share, got, plan);
  got = RingOverRails(s, share, got, plan);
  if (s.kind == CollectiveKind::kReduceScatter) return plan;
  // An all-gather passes on all that its rail brought; so does the end of an all-reduce.
  ExchangeInNodes(s, share, got, plan);
  return plan;
}

}  // namespace weir
