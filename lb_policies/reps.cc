#include "lb_policies/reps.h"

namespace weir {

Reps::Reps(const LbInfo& lb, const Config& config)
    : paths_(lb.paths),
      explore_packets_(static_cast<uint32_t>(config.explore_packets > 0 ? config.explore_packets
                                                                        : (lb.bdp / lb.mtu) + 1)),
      freezing_timeout_(config.freezing_timeout),
      rng_(lb.seed),
      ring_(static_cast<uint32_t>(config.buffer)),
      exploring_(explore_packets_) {}

PathId Reps::PickPath(const TxContext&) {
  if (exploring_ > 0 || !ring_.ever_stored() || (ring_.empty() && !frozen_)) {
    if (exploring_ > 0) --exploring_;
    ++counters_[0];
    return static_cast<PathId>(rng_.Below(paths_));
  }
  if (!ring_.empty()) {
    ++counters_[1];
    return ring_.TakeOldest();
  }
  ++counters_[2];
  return ring_.NextStored();
}

void Reps::OnFeedback(const PathFeedback& feedback) {
  switch (feedback.event) {
    case PathEvent::kGood:
    case PathEvent::kTrimmedLastHop:
      ring_.Store(feedback.path);
      break;
    case PathEvent::kTimeout:
      if (frozen_ || exploring_ > 0 || freezing_timeout_ == Duration(0)) return;
      frozen_ = true;
      thaw_at_ = feedback.now + freezing_timeout_;
      ++counters_[3];
      return;
    case PathEvent::kMarked:
    case PathEvent::kTrimmed:
    case PathEvent::kLost:
      break;
  }
  if (frozen_ && feedback.now > thaw_at_) {
    frozen_ = false;
    exploring_ = explore_packets_;
  }
}

}  // namespace weir
