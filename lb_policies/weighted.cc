#include "lb_policies/weighted.h"

#include <algorithm>

namespace weir {
namespace {

constexpr int kDraws = 16;  // then the last one is taken
constexpr uint32_t kFloor = 4;

}  // namespace

Weighted::Weighted(const LbInfo& lb, const Config& config)
    : by_(config.by),
      gain_(static_cast<float>(config.gain)),
      base_rtt_(lb.base_rtt),
      health_(lb.health),
      rng_(lb.seed),
      pool_(lb.paths, config.pool, rng_),
      shortest_(lb.base_rtt),
      sum_(pool_.size() * kOne) {
  std::fill_n(score_, kMaxPool, static_cast<uint16_t>(kOne));
}

PathId Weighted::PickPath(const TxContext& tx) {
  if (tx.now >= compare_at_) Compare(tx.now);
  const uint32_t least = sum_ / pool_.size() / kFloor;
  PathId path = 0;
  for (int i = 0; i < kDraws; ++i) {
    const uint32_t index = rng_.Below(pool_.size());
    path = pool_.At(index);
    const uint32_t weight = std::max<uint32_t>(score_[index], least);
    if (rng_.Below(best_) < weight && health_->Usable(path)) break;
  }
  return path;
}

void Weighted::OnFeedback(const PathFeedback& feedback) {
  const uint32_t index = pool_.IndexOf(feedback.path);
  if (index >= pool_.size()) return;
  switch (feedback.event) {
    case PathEvent::kGood:
    case PathEvent::kMarked:
      if (by_ == By::kMarks) return Score(index, feedback.event == PathEvent::kGood ? 1 : 0);
      if (feedback.rtt <= Duration(0)) return;
      shortest_ = std::min(shortest_, feedback.rtt);
      return Score(index, Ratio(shortest_, feedback.rtt));
    case PathEvent::kTrimmed:
    case PathEvent::kLost:
    case PathEvent::kTimeout:
      return Score(index, 0);
    case PathEvent::kTrimmedLastHop:
      return;
  }
}

void Weighted::Score(uint32_t index, double x) {
  const double score = score_[index];
  const auto moved = static_cast<uint16_t>(score + gain_ * (x * kOne - score) + 0.5);
  sum_ += moved;
  sum_ -= score_[index];
  score_[index] = moved;
}

void Weighted::Compare(Time now) {
  compare_at_ = now + base_rtt_;
  best_ = std::max<uint32_t>(*std::max_element(score_, score_ + pool_.size()), 1);
}

}  // namespace weir
