#include "lb_policies/power_of_two.h"

#include <algorithm>

namespace weir {
namespace {

constexpr int kDraws = 4;  // to find a path that works
constexpr int kAgeRtts = 4;

}  // namespace

PowerOfTwo::PowerOfTwo(const LbInfo& lb, const Config& config)
    : base_rtt_(lb.base_rtt),
      age_(config.age > Duration(0) ? config.age : kAgeRtts * lb.base_rtt),
      margin_(Units(config.margin > Duration(0) ? config.margin : 3 * lb.base_rtt / 4)),
      health_(lb.health),
      rng_(lb.seed),
      pool_(lb.paths, config.pool, rng_),
      shortest_(lb.base_rtt) {}

PathId PowerOfTwo::PickPath(const TxContext& tx) {
  Age(tx.now);
  const uint32_t a = Draw();
  const uint32_t b = Draw();
  return pool_.At(Cost(b) + margin_ < Cost(a) ? b : a);
}

void PowerOfTwo::OnFeedback(const PathFeedback& feedback) {
  const uint32_t index = pool_.IndexOf(feedback.path);
  if (index >= pool_.size()) return;
  switch (feedback.event) {
    case PathEvent::kGood:
    case PathEvent::kMarked: {
      if (feedback.rtt <= Duration(0)) return;
      shortest_ = std::min(shortest_, feedback.rtt);
      excess_[index] = static_cast<uint8_t>(Units(feedback.rtt - shortest_));
      return;
    }
    case PathEvent::kTrimmed:
    case PathEvent::kLost:
    case PathEvent::kTimeout:
      excess_[index] = kMost;
      return;
    case PathEvent::kTrimmedLastHop:
      return;
  }
}

uint32_t PowerOfTwo::Draw() {
  uint32_t index = rng_.Below(pool_.size());
  for (int i = 1; i < kDraws && !health_->Usable(pool_.At(index)); ++i)
    index = rng_.Below(pool_.size());
  return index;
}

uint32_t PowerOfTwo::Units(Duration excess) const {
  return static_cast<uint32_t>(std::min<int64_t>(excess * kUnits / base_rtt_, kMost));
}

uint32_t PowerOfTwo::Cost(uint32_t index) const {
  return health_->Usable(pool_.At(index)) ? excess_[index] : kMost + 1;
}

void PowerOfTwo::Age(Time now) {
  const int64_t ages = (now - aged_at_) / age_;
  if (ages <= 0) return;
  aged_at_ = aged_at_ + ages * age_;
  const auto halvings = static_cast<int>(std::min<int64_t>(ages, 8));
  for (uint32_t i = 0; i < pool_.size(); ++i)
    excess_[i] = static_cast<uint8_t>(excess_[i] >> halvings);
}

}  // namespace weir
