// The processor's time-stamp counter as a port's clock.
#pragma once

#include <x86intrin.h>

#include <cstdint>

#include "datapath/api/units.h"

namespace weir {

// Time since an origin that all clocks of the process share, so that ports of one process agree.
// The counter is taken to be invariant: `weir doctor` looks whether it is.
class TscClock {
 public:
  // `ticks_per_second` > 0; `scale` > 0: seconds of this clock a second.
  TscClock(uint64_t ticks_per_second, double scale)
      : origin_(Origin()),
        nanos_a_tick_(static_cast<uint64_t>(1e9 / static_cast<double>(ticks_per_second) * scale *
                                            static_cast<double>(uint64_t{1} << kShift))) {}

  // Does not run backwards, on one thread.
  Time Now() {
    const Time now = At(__rdtsc());
    if (now > last_) last_ = now;
    return last_;
  }
  // Rounded down to a nanosecond. A count before the origin is the origin.
  Time At(uint64_t ticks) const {
    if (ticks < origin_) return Time(0);
    const auto nanos = static_cast<Int128>(ticks - origin_) * static_cast<Int128>(nanos_a_tick_);
    return Time(static_cast<int64_t>(nanos >> kShift));
  }
  uint64_t origin() const { return origin_; }

 private:
  static constexpr int kShift = 40;  // an error below 1e-9 of a tick's length at any scale in use

  static uint64_t Origin() {
    static const uint64_t origin = __rdtsc();
    return origin;
  }

  uint64_t origin_;
  uint64_t nanos_a_tick_;  // times 2^kShift
  Time last_{};
};

}  // namespace weir
