// Shared by the tests of load-balancing policies.
#pragma once

#include <algorithm>
#include <vector>

#include "datapath/api/load_balancer.h"

namespace weir {

constexpr LbInfo TestLb(uint32_t paths, uint64_t seed = 1) {
  return {.paths = paths,
          .mtu = Bytes(4096),
          .bdp = Bytes(40'960),
          .base_rtt = Micros(12),
          .seed = seed};
}

// `n` choices in a row, 100 ns apart.
inline std::vector<PathId> Pick(LoadBalancer& lb, int n) {
  std::vector<PathId> paths;
  for (int i = 0; i < n; ++i) {
    paths.push_back(lb.PickPath({.now = Time(100 * i), .size = Bytes(4096)}));
  }
  return paths;
}

// How a switch spreads entropy values over links that it knows nothing of.
inline uint32_t HashToLink(PathId path, uint32_t links, uint64_t switch_seed) {
  return static_cast<uint32_t>(Mix64(path ^ Mix64(switch_seed)) % links);
}

// The load of the fullest link over the mean load.
inline double MaxOverMean(const std::vector<int>& load) {
  double total = 0;
  for (const int packets : load) total += packets;
  const int most = *std::max_element(load.begin(), load.end());
  return most * static_cast<double>(load.size()) / total;
}

}  // namespace weir
