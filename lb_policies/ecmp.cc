#include "lb_policies/ecmp.h"

namespace weir {

Ecmp::Ecmp(const LbInfo& lb, const Config& config)
    : paths_(lb.paths),
      redraw_on_timeout_(config.redraw_on_timeout),
      rng_(lb.seed),
      path_(AnyPath()) {}

void Ecmp::OnFeedback(const PathFeedback& feedback) {
  if (!redraw_on_timeout_ || feedback.event != PathEvent::kTimeout) return;
  if (feedback.path != path_) return;  // news of a path already left
  path_ = AnyPath();
  ++counters_[0];
}

}  // namespace weir
