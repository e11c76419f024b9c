#include "lb_policies/ev_set.h"

#include <algorithm>

namespace weir {
namespace {

constexpr uint32_t kBackupsTried = 4;

// At least one path is allowed.
uint32_t Allowed(const LbInfo& lb, const EvSet::Config& config) {
  return lb.paths - std::min(static_cast<uint32_t>(config.denied), lb.paths - 1);
}
LbInfo WithPaths(LbInfo lb, uint32_t paths) {
  lb.paths = paths;
  return lb;
}

}  // namespace

EvSet::EvSet(const LbInfo& lb, const Config& config)
    : health_(lb.health),
      paths_(lb.paths),
      first_(static_cast<uint32_t>(config.denied_first + config.denied) % lb.paths),
      allowed_(Allowed(lb, config)),
      order_(WithPaths(lb, allowed_), {.pool = config.active}),
      backups_(std::min(static_cast<uint32_t>(config.backups), allowed_ - order_.pool().size())) {
  const auto kept = static_cast<uint32_t>(config.min_active * order_.pool().size());
  may_leave_out_ = order_.pool().size() - std::max(kept, 1u);
}

PathId EvSet::PickPath(const TxContext& tx) {
  for (;;) {
    if (turn_ == order_.pool().size()) turn_ = left_out_ = 0;
    ++turn_;
    const uint32_t value = OrItsBackup(order_.pool().IndexOf(order_.PickPath(tx)));
    if (left_out_ == may_leave_out_ || !LeavesOut(value, tx)) return PathOf(value);
    ++left_out_;
  }
}

void EvSet::OnFeedback(const PathFeedback& feedback) {
  if (feedback.event != PathEvent::kMarked && feedback.event != PathEvent::kTrimmed &&
      feedback.event != PathEvent::kLost) {
    return;
  }
  const uint32_t allowed = (feedback.path + paths_ - first_) % paths_;
  if (allowed >= allowed_) return;
  const uint32_t value = order_.pool().IndexOf(static_cast<PathId>(allowed));
  if (value < order_.pool().size() + backups_) skip_[value / 64] |= uint64_t{1} << value % 64;
}

PathId EvSet::PathOf(uint32_t value) const {
  return static_cast<PathId>((first_ + order_.pool().At(value)) % paths_);
}

uint32_t EvSet::OrItsBackup(uint32_t value) {
  if (health_->Usable(PathOf(value))) return value;
  for (uint32_t i = 0; i < std::min(backups_, kBackupsTried); ++i) {
    const uint32_t backup = order_.pool().size() + (value + i) % backups_;
    if (!health_->Usable(PathOf(backup))) continue;
    ++counters_[kReplaced];
    return backup;
  }
  return value;
}

bool EvSet::LeavesOut(uint32_t value, const TxContext& tx) {
  uint64_t& word = skip_[value / 64];
  const uint64_t bit = uint64_t{1} << value % 64;
  if (!health_->Usable(PathOf(value))) {
    ++counters_[kBad];
    return true;
  }
  if ((word & bit) != 0) {
    word &= ~bit;
    ++counters_[kSkipped];
    return true;
  }
  return tx.retransmit && PathOf(value) == tx.lost_on;
}

}  // namespace weir
