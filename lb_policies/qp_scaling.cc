#include "lb_policies/qp_scaling.h"

namespace weir {

QpScaling::QpScaling(const LbInfo& lb, const Config& config)
    : flows_(static_cast<uint32_t>(config.flows)), split_(config.split) {
  Rng rng(lb.seed);
  for (uint32_t i = 0; i < flows_; ++i) path_[i] = static_cast<PathId>(rng.Below(lb.paths));
}

PathId QpScaling::PickPath(const TxContext& tx) {
  if (tx.retransmit) return tx.lost_on;
  if (!split_) return path_[tx.message % flows_];
  const uint32_t flow = next_;
  next_ = flow + 1 == flows_ ? 0 : flow + 1;
  return path_[flow];
}

}  // namespace weir
