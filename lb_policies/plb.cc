#include "lb_policies/plb.h"

#include <algorithm>

namespace weir {

Plb::Plb(const LbInfo& lb, const Config& config)
    : config_(config),
      paths_(lb.paths),
      base_rtt_(lb.base_rtt),
      rng_(lb.seed),
      path_(AnyPath()),
      rtt_(lb.base_rtt) {}

PathId Plb::PickPath(const TxContext& tx) {
  const bool idle = tx.in_flight == Bytes(0);
  const bool enough = congested_ >= config_.rounds || (idle && congested_ >= config_.idle_rounds);
  if (enough && tx.now >= suspended_until_) Move(idle ? kIdle : kForced);
  return path_;
}

void Plb::OnFeedback(const PathFeedback& feedback) {
  if (feedback.path != path_) return;  // news of a path already left
  if (feedback.event == PathEvent::kTimeout) {
    if (feedback.now == timeout_at_) return;
    timeout_at_ = feedback.now;
    suspended_until_ = feedback.now + Scaled(config_.suspend, 1 + rng_.Unit());
    return Move(kTimeout);
  }
  if (feedback.event != PathEvent::kGood && feedback.event != PathEvent::kMarked) return;
  if (feedback.rtt > Duration(0)) rtt_ = std::max(feedback.rtt, base_rtt_);
  if (feedback.now >= round_end_) EndRound(feedback.now);
  ++delivered_;
  if (feedback.event == PathEvent::kMarked) ++marked_;
}

void Plb::EndRound(Time now) {
  if (delivered_ > 0) {
    const double share = static_cast<double>(marked_) / static_cast<double>(delivered_);
    congested_ = share >= config_.congested_share ? congested_ + 1 : 0;
  }
  delivered_ = marked_ = 0;
  round_end_ = now + rtt_;
}

void Plb::Move(Counter why) {
  path_ = AnyPath();
  congested_ = delivered_ = marked_ = 0;
  round_end_ = Time(0);
  ++counters_[why];
}

}  // namespace weir
