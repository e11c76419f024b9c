#include "lb_policies/bitmap.h"

#include <algorithm>

namespace weir {
namespace {

constexpr int kPathsMet = 16;  // for one packet

}  // namespace

Bitmap::Bitmap(const LbInfo& lb, const Config& config)
    : order_(lb, {.pool = config.pool}),
      mark_(static_cast<uint8_t>(config.mark)),
      trim_(static_cast<uint8_t>(config.trim)),
      loss_(static_cast<uint8_t>(config.loss)) {}

PathId Bitmap::PickPath(const TxContext& tx) {
  PathId path = order_.PickPath(tx);
  for (int met = 1; met < kPathsMet; ++met) {
    const uint32_t index = order_.pool().IndexOf(path);
    const uint32_t penalty = Penalty(index);
    if (penalty == 0) break;
    if (met == 1) SetPenalty(index, penalty - 1);
    ++counters_[0];
    path = order_.PickPath(tx);
  }
  return path;
}

void Bitmap::OnFeedback(const PathFeedback& feedback) {
  const uint32_t index = order_.pool().IndexOf(feedback.path);
  if (index >= order_.pool().size()) return;
  SetPenalty(index, std::min(Penalty(index) + CostOf(feedback.event), kWorst));
}

uint32_t Bitmap::CostOf(PathEvent event) const {
  switch (event) {
    case PathEvent::kMarked:
      return mark_;
    case PathEvent::kTrimmed:
      return trim_;
    case PathEvent::kLost:
    case PathEvent::kTimeout:
      return loss_;
    case PathEvent::kGood:
    case PathEvent::kTrimmedLastHop:
      return 0;
  }
  return 0;
}

void Bitmap::SetPenalty(uint32_t index, uint32_t penalty) {
  uint8_t& pair = penalties_[index / 2];
  const uint32_t shift = index % 2 * 4;
  pair = static_cast<uint8_t>((pair & ~(kWorst << shift)) | (penalty << shift));
}

}  // namespace weir
