// What the plans of collectives share.
#pragma once

#include <algorithm>
#include <cstdint>

#include "testbed/traffic/collectives/collective.h"

namespace weir {

inline Bytes CeilDiv(Bytes size, uint32_t parts) {
  return Bytes((size.count() + parts - 1) / parts);
}
inline Bytes Align16(Bytes size) { return Bytes((size.count() + 15) / 16 * 16); }

// The share of channel `c`, of `channels`, in multiples of 16 bytes but for the last.
inline Bytes ShareOf(Bytes size, uint32_t c, uint32_t channels) {
  const Bytes part = Align16(CeilDiv(size, channels));
  return std::clamp(size - part * c, Bytes(0), part);
}
inline Bytes OnWire(const Protocol& protocol, Bytes payload) {
  return Scaled(payload, 1 / protocol.efficiency);
}
// Rank `local` of `node`.
inline uint32_t RankAt(const CollectiveShape& s, uint32_t node, uint32_t local) {
  return node * s.ranks_per_node + local;
}
inline uint32_t NodesOf(const CollectiveShape& s) { return s.ranks / s.ranks_per_node; }
// Calls fn(piece) for `size` cut into pieces of at most `most`.
template <class Fn>
void ForPieces(Bytes size, Bytes most, Fn fn) {
  for (Bytes at{}; at < size; at += most) fn(std::min(most, size - at));
}

// One each. `shape` has its algorithm chosen and was checked.
Plan PlanRing(const CollectiveShape& shape);
Plan PlanTree(const CollectiveShape& shape);
Plan PlanHalvingDoubling(const CollectiveShape& shape);
Plan PlanPat(const CollectiveShape& shape);
Plan PlanHierarchical(const CollectiveShape& shape);
Plan PlanAllToAll(const CollectiveShape& shape);
Plan PlanRooted(const CollectiveShape& shape);

}  // namespace weir
