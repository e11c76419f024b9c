#include "lb_policies/oblivious.h"

#include <algorithm>
#include <bit>

namespace weir {

Oblivious::Oblivious(const LbInfo& lb, const Config& config)
    : paths_(lb.paths),
      pool_(config.pool > 0 ? std::min(static_cast<uint32_t>(config.pool), lb.paths) : lb.paths),
      top_bit_(std::bit_ceil(pool_) / 2),
      rng_(lb.seed) {
  base_ = rng_.Below(paths_);
  mask_ = rng_.Below(std::bit_ceil(pool_));
}

PathId Oblivious::PickPath(const TxContext&) {
  uint32_t index = Next();
  while (index >= pool_) index = Next();  // twice at most: here and at the turn of a pass
  uint32_t path = base_ + index;
  if (path >= paths_) path -= paths_;
  return static_cast<PathId>(path);
}

uint32_t Oblivious::Next() {
  if (top_bit_ == 0) return 0;
  const uint32_t rotated = (counter_ >> 1) | ((counter_ & 1) != 0 ? top_bit_ : 0);
  const uint32_t value = rotated ^ mask_;
  if (++counter_ == 2 * top_bit_) {
    counter_ = 0;
    mask_ = rng_.Below(2 * top_bit_);
  }
  return value;
}

}  // namespace weir
