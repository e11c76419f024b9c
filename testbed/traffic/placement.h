// Which hosts the ranks of jobs get.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "datapath/api/rng.h"

namespace weir {

struct Placement {
  enum class Order : uint8_t {
    kPacked,  // nodes in their order
    kRandom,  // nodes in any order
  };
  Order order = Order::kPacked;
  // Of the nodes of a packed job, so many change places with any others of the fabric: what a
  // scheduler leaves after months of jobs that come and go. [0, 1]
  double fragmentation = 0;
};

// Hands out the hosts of one fabric to jobs, in whole nodes of consecutive hosts, none twice.
class HostPool {
 public:
  explicit HostPool(uint32_t hosts) : taken_(hosts, false) {}

  // `count` of them, in order. Fails if too few nodes of `per_node` hosts are free: names both
  // numbers.
  absl::StatusOr<std::vector<uint32_t>> Take(uint32_t count, uint32_t per_node,
                                             const Placement& placement, Rng& rng);

 private:
  std::vector<bool> taken_;
};

}  // namespace weir
