#include "lb_policies/flowlet.h"

namespace weir {

Flowlet::Flowlet(const LbInfo& lb, const Config& config)
    : paths_(lb.paths),
      pause_(config.pause > Duration(0) ? config.pause : lb.base_rtt),
      rng_(lb.seed),
      path_(AnyPath()) {}

PathId Flowlet::PickPath(const TxContext& tx) {
  if (tx.now > flowlet_until_) {
    path_ = AnyPath();
    ++counters_[0];
  }
  flowlet_until_ = tx.now + pause_;
  return path_;
}

}  // namespace weir
