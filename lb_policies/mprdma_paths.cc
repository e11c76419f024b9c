#include "lb_policies/mprdma_paths.h"

#include <algorithm>

namespace weir {

MprdmaPaths::MprdmaPaths(const LbInfo& lb, const Config& config)
    : paths_(lb.paths),
      probe_(config.probe),
      late_(config.late > Duration(0) ? config.late : lb.base_rtt),
      rng_(lb.seed),
      shortest_(lb.base_rtt),
      clocked_(kRoom) {}

PathId MprdmaPaths::PickPath(const TxContext&) {
  if (clocked_.empty() || rng_.Chance(probe_)) {
    ++counters_[1];
    return static_cast<PathId>(rng_.Below(paths_));
  }
  ++counters_[0];
  return clocked_.TakeOldest();
}

void MprdmaPaths::OnFeedback(const PathFeedback& feedback) {
  if (feedback.event != PathEvent::kGood && feedback.event != PathEvent::kTrimmedLastHop) return;
  if (feedback.rtt > Duration(0)) {
    shortest_ = std::min(shortest_, feedback.rtt);
    if (feedback.rtt > shortest_ + late_) {
      ++counters_[2];
      return;
    }
  }
  clocked_.Store(feedback.path);
}

}  // namespace weir
