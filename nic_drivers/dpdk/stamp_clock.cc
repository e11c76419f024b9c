#include "nic_drivers/dpdk/stamp_clock.h"

namespace weir {

void StampClock::Read(Time before, uint64_t ticks, Time after) {
  // One that was interrupted says little.
  if (after - before > kSlack) {
    next_ = after + kFirst;
    return;
  }
  const Time middle = before + (after - before) / 2;
  const auto passed = static_cast<int64_t>(ticks - ticks_);
  if (any_ && passed > 0) {
    nanos_a_tick_ = static_cast<double>((middle - at_).count()) / static_cast<double>(passed);
  }
  any_ = true;
  at_ = middle;
  ticks_ = ticks;
  next_ = after + (ready() ? kBetween : kFirst);
}

Time StampClock::Arrival(uint64_t ticks, Time since, Time polled) const {
  // The stamp may be of before the latest reading.
  const double passed = static_cast<double>(static_cast<int64_t>(ticks - ticks_)) * nanos_a_tick_;
  if (passed > 1e18 || passed < -1e18) return Time::Never();
  const Time at = at_ + Duration(static_cast<int64_t>(passed));
  if (at < since - kSlack || at > polled + kSlack) return Time::Never();
  return at < polled ? at : polled;
}

}  // namespace weir
