#include "lb_policies/round_robin.h"

#include <algorithm>
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
    : paths_(lb.paths),
      pool_(config.pool > 0 ? std::min(static_cast<uint32_t>(config.pool), lb.paths) : lb.paths) {
  Rng rng(lb.seed);
  base_ = rng.Below(paths_);
  stride_ = AnyStride(pool_, rng);
}

PathId RoundRobin::PickPath(const TxContext&) {
  uint32_t path = base_ + index_;
  if (path >= paths_) path -= paths_;
  index_ += stride_;
  if (index_ >= pool_) index_ -= pool_;
  return static_cast<PathId>(path);
}

}  // namespace weir
