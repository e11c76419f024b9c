#include "lb_policies/round_robin.h"

#include <numeric>

namespace weir {
namespace {

// Uniform among the numbers below `pool` prime to it; 1 for the smallest pools. One draw in five
// succeeds even in the worst pool up to 65536.
uint32_t AnyStride(uint32_t pool, Rng& rng) {
  constexpr int kDraws = 256;
  for (int i = 0; i < kDraws; ++i) {
    const uint32_t stride = rng.Below(pool);
    if (std::gcd(stride, pool) == 1) return stride;
  }
  return 1;
}

}  // namespace

RoundRobin::RoundRobin(const LbInfo& lb, const Config& config)
    : RoundRobin(lb, config, Rng(lb.seed)) {}

RoundRobin::RoundRobin(const LbInfo& lb, const Config& config, Rng rng)
    : pool_(lb.paths, config.pool, rng), stride_(AnyStride(pool_.size(), rng)) {}

PathId RoundRobin::PickPath(const TxContext&) {
  const PathId path = pool_.At(index_);
  index_ += stride_;
  if (index_ >= pool_.size()) index_ -= pool_.size();
  return path;
}

}  // namespace weir
