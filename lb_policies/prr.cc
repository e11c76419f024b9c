#include "lb_policies/prr.h"

namespace weir {

Prr::Prr(const LbInfo& lb, const Config& config)
    : paths_(lb.paths), patience_(config.timeouts), rng_(lb.seed), path_(AnyPath()) {}

void Prr::OnFeedback(const PathFeedback& feedback) {
  if (feedback.path != path_) return;  // news of a path already left
  switch (feedback.event) {
    case PathEvent::kGood:
    case PathEvent::kMarked:
      timeouts_ = 0;
      return;
    case PathEvent::kTimeout:
      if (feedback.now == timeout_at_) return;
      timeout_at_ = feedback.now;
      if (++timeouts_ < patience_) return;
      timeouts_ = 0;
      path_ = AnyPath();
      ++counters_[0];
      return;
    case PathEvent::kTrimmed:
    case PathEvent::kTrimmedLastHop:
    case PathEvent::kLost:
      return;  // neither congestion nor one lost packet is an outage
  }
}

}  // namespace weir
