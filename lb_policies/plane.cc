#include "lb_policies/plane.h"

#include <algorithm>

namespace weir {
namespace {

constexpr int kPathsTried = 4;

}  // namespace

Plane::Plane(const LbInfo& lb, const Config& config)
    : health_(lb.health),
      planes_(std::min(static_cast<uint32_t>(config.planes), lb.paths)),
      together_(static_cast<uint32_t>(config.together)) {
  Rng rng(lb.seed);
  turn_ = rng.Below(planes_);
  for (uint32_t p = 0; p < planes_; ++p) {
    plane_[p].paths = (lb.paths - p + planes_ - 1) / planes_;
    plane_[p].next = rng.Below(plane_[p].paths);
  }
}

PathId Plane::PickPath(const TxContext&) {
  for (uint32_t i = 0; i < planes_; ++i) {
    turn_ = turn_ + 1 == planes_ ? 0 : turn_ + 1;
    if (InUse(plane_[turn_])) break;
  }
  return PathIn(turn_);
}

void Plane::OnFeedback(const PathFeedback& feedback) {
  State& plane = plane_[feedback.path % planes_];
  if (plane.left) return;
  if (feedback.event == PathEvent::kGood || feedback.event == PathEvent::kMarked) {
    plane.failed = 0;
    return;
  }
  if (feedback.event != PathEvent::kLost && feedback.event != PathEvent::kTimeout) return;
  if (health_->Usable(feedback.path)) return;
  if (plane.failed > 0 && plane.witness == feedback.path) return;
  ++plane.failed;
  plane.witness = feedback.path;
  if (plane.failed < std::min(together_, plane.paths) || 2 * (left_ + 1) > planes_) return;
  plane.left = true;
  ++left_;
  ++counters_[0];
}

bool Plane::InUse(State& plane) {
  if (!plane.left) return true;
  if (!health_->Usable(plane.witness)) return false;
  plane.left = false;
  plane.failed = 0;
  --left_;
  ++counters_[1];
  return true;
}

PathId Plane::PathIn(uint32_t plane) {
  State& state = plane_[plane];
  PathId path = 0;
  for (int i = 0; i < kPathsTried; ++i) {
    path = static_cast<PathId>(state.next * planes_ + plane);
    state.next = state.next + 1 == state.paths ? 0 : state.next + 1;
    if (health_->Usable(path)) break;
  }
  return path;
}

}  // namespace weir
