// The kernel's monotonic clock as a port's clock.
#pragma once

#include <chrono>

#include "datapath/api/units.h"

namespace weir {

// Time since an origin that all clocks of this kind in the process share.
class MonotonicClock {
 public:
  // `scale` > 0: seconds of this clock a second.
  explicit MonotonicClock(double scale) : scale_(scale), origin_(Origin()) {}

  Time Now() const {
    const int64_t nanos =
        (std::chrono::steady_clock::now() - origin_) / std::chrono::nanoseconds(1);
    if (scale_ == 1) return Time(nanos);
    return Time(static_cast<int64_t>(static_cast<double>(nanos) * scale_));
  }

 private:
  static std::chrono::steady_clock::time_point Origin() {
    static const auto origin = std::chrono::steady_clock::now();
    return origin;
  }

  double scale_;
  std::chrono::steady_clock::time_point origin_;
};

}  // namespace weir
