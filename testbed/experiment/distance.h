// How far apart hosts are, in the classes that placement and rules speak of.
#pragma once

#include "testbed/experiment/experiment.h"
#include "testbed/fabric/topology.h"
#include "testbed/traffic/plan_carrier.h"

namespace weir {

inline Distance DistanceBetween(const Routes& routes, uint32_t a, uint32_t b) {
  constexpr uint32_t kLinksWithinLeaf = 2;
  constexpr uint32_t kLinksWithinPod = 4;
  const uint32_t links = routes.Hops(a, b);
  if (links <= kLinksWithinLeaf) return Distance::kLeaf;
  return links <= kLinksWithinPod ? Distance::kPod : Distance::kFabric;
}

}  // namespace weir
