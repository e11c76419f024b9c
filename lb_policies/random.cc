#include "lb_policies/random.h"

namespace weir {

Random::Random(const LbInfo& lb, const Config& config)
    : rng_(lb.seed), pool_(lb.paths, config.pool, rng_) {}

PathId Random::PickPath(const TxContext&) { return pool_.At(rng_.Below(pool_.size())); }

}  // namespace weir
