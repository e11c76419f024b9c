// Switches in tiers with hosts below: what leaf-spine fabrics and fat trees have in common.
#pragma once

#include <cstdint>

#include "datapath/api/units.h"
#include "testbed/fabric/topology.h"

namespace weir {

// The switches of one tier and the links from them down.
struct Tier {
  Rate rate{};
  Duration delay{};           // propagation
  Duration switch_latency{};  // added to whatever arrives at a switch of this tier
  uint32_t bundle = 1;        // parallel links to each neighbour below
};

// Two tiers, with a single pod, or three. Every leaf reaches every upper switch of its pod; upper
// switch j of every pod reaches cores j * cores_per_upper ... (j + 1) * cores_per_upper - 1.
struct TieredShape {
  uint32_t pods = 1;
  uint32_t leaves_per_pod = 0;
  uint32_t hosts_per_leaf = 0;
  uint32_t uppers_per_pod = 0;
  uint32_t cores_per_upper = 0;  // 0: two tiers
  Tier leaf{};
  Tier upper{};
  Tier core{};
};

// Nodes: hosts, leaves, uppers, cores. Hosts h * hosts_per_leaf ... are those of leaf h.
Topology BuildTiers(const TieredShape& shape);

}  // namespace weir
