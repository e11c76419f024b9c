#include "lb_policies/mixed.h"

namespace weir {

Mixed::Mixed(const LbInfo& lb, const Config& config)
    : bitmap_(lb, config.bitmap), good_(static_cast<uint32_t>(config.buffer)) {}

PathId Mixed::PickPath(const TxContext& tx) {
  if (good_.empty()) {
    ++counters_[1];
    return bitmap_.PickPath(tx);
  }
  ++counters_[0];
  return good_.TakeOldest();
}

void Mixed::OnFeedback(const PathFeedback& feedback) {
  if (feedback.event == PathEvent::kGood || feedback.event == PathEvent::kTrimmedLastHop) {
    good_.Store(feedback.path);
  } else {
    bitmap_.OnFeedback(feedback);
  }
}

}  // namespace weir
