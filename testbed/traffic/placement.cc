#include "testbed/traffic/placement.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"

namespace weir {

absl::StatusOr<std::vector<uint32_t>> HostPool::Take(uint32_t count, uint32_t per_node,
                                                     const Placement& placement, Rng& rng) {
  std::vector<uint32_t> free;  // first hosts of nodes
  const uint32_t hosts = static_cast<uint32_t>(taken_.size());
  for (uint32_t first = 0; first + per_node <= hosts; first += per_node) {
    const auto from = taken_.begin() + first;
    if (std::none_of(from, from + per_node, [](bool taken) { return taken; })) {
      free.push_back(first);
    }
  }
  const uint32_t nodes = (count + per_node - 1) / per_node;
  if (nodes > free.size()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%d NICs need %d nodes of %d hosts, and %d are free of the fabric's %d hosts; take fewer "
        "ranks or a larger fabric",
        count, nodes, per_node, free.size(), hosts));
  }
  const auto swap_with_any = [&](size_t i, size_t least) {
    std::swap(free[i], free[least + rng.Below(static_cast<uint32_t>(free.size() - least))]);
  };
  if (placement.order == Placement::Order::kRandom) {
    for (size_t i = 0; i < nodes; ++i) swap_with_any(i, i);
  } else {
    const size_t moved = static_cast<size_t>(std::lround(placement.fragmentation * nodes));
    std::vector<size_t> order(nodes);
    for (size_t i = 0; i < nodes; ++i) order[i] = i;
    for (size_t i = 0; i < moved; ++i)
      std::swap(order[i], order[i + rng.Below(static_cast<uint32_t>(nodes - i))]);
    for (size_t i = 0; i < moved; ++i) swap_with_any(order[i], 0);
  }
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t host = free[i / per_node] + i % per_node;
    taken_[host] = true;
    out.push_back(host);
  }
  return out;
}

}  // namespace weir
