#include "lb_policies/oblivious.h"

#include <bit>

namespace weir {

Oblivious::Oblivious(const LbInfo& lb, const Config& config)
    : rng_(lb.seed),
      pool_(lb.paths, config.pool, rng_),
      top_bit_(std::bit_ceil(pool_.size()) / 2),
      mask_(rng_.Below(std::bit_ceil(pool_.size()))) {}

PathId Oblivious::PickPath(const TxContext&) {
  uint32_t index = Next();
  while (index >= pool_.size()) index = Next();  // twice at most: here and at the turn of a pass
  return pool_.At(index);
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
