#include "lb_policies/reps.h"

#include <algorithm>

namespace weir {

Reps::Reps(const LbInfo& lb, const Config& config)
    : paths_(lb.paths),
      buffer_size_(static_cast<uint32_t>(config.buffer)),
      explore_packets_(static_cast<uint32_t>(config.explore_packets > 0 ? config.explore_packets
                                                                        : (lb.bdp / lb.mtu) + 1)),
      freezing_timeout_(config.freezing_timeout),
      rng_(lb.seed),
      exploring_(explore_packets_) {}

PathId Reps::PickPath(const TxContext&) {
  if (exploring_ > 0 || stored_ == 0 || (valid_ == 0 && !frozen_)) {
    if (exploring_ > 0) --exploring_;
    ++counters_[0];
    return static_cast<PathId>(rng_.Below(paths_));
  }
  return valid_ > 0 ? TakeOldestValid() : NextStored();
}

void Reps::OnFeedback(const PathFeedback& feedback) {
  switch (feedback.event) {
    case PathEvent::kGood:
    case PathEvent::kTrimmedLastHop:
      Store(feedback.path);
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

void Reps::Store(PathId path) {
  buffer_[head_] = path;
  head_ = head_ + 1 == buffer_size_ ? 0 : head_ + 1;
  stored_ = std::min(stored_ + 1, buffer_size_);
  valid_ = std::min(valid_ + 1, buffer_size_);  // a full buffer loses its oldest
}

PathId Reps::TakeOldestValid() {
  ++counters_[1];
  const uint32_t oldest = head_ >= valid_ ? head_ - valid_ : head_ + buffer_size_ - valid_;
  --valid_;
  return buffer_[oldest];
}

PathId Reps::NextStored() {
  ++counters_[2];
  if (reuse_ >= stored_) reuse_ = 0;
  return buffer_[reuse_++];
}

}  // namespace weir
