// Smoothed, variance and minimum round-trip time, and the time-out that follows from them.
//
// srtt <- 7/8 srtt + 1/8 r, rttvar <- 3/4 rttvar + 1/4 |srtt - r|, RTO = srtt + 4 rttvar, at least
// the floor. Source: RFC 6298 section 2.
// Departure: the minimum is over the last one to two windows, so that a route that got longer is
// not taken for a queue for ever.
#pragma once

#include <algorithm>

#include "datapath/api/units.h"

namespace weir {

class RttEstimator {
 public:
  static constexpr Duration kMinWindow = Millis(100);

  RttEstimator() = default;
  // Until the first sample, `base` stands for it. `floor` is the least RTO.
  RttEstimator(Duration base, Duration floor)
      : base_(base), floor_(floor), smoothed_(base), min_now_(base) {}

  void Add(Time now, Duration rtt) {
    if (samples_ == 0) {
      smoothed_ = rtt;
      variance_ = rtt / 2;
      min_now_ = min_before_ = rtt;
      window_start_ = now;
    } else {
      const Duration error = smoothed_ > rtt ? smoothed_ - rtt : rtt - smoothed_;
      variance_ = (3 * variance_ + error) / 4;
      smoothed_ = (7 * smoothed_ + rtt) / 8;
      if (now - window_start_ > kMinWindow) {
        min_before_ = min_now_;
        min_now_ = rtt;
        window_start_ = now;
      }
      min_now_ = std::min(min_now_, rtt);
    }
    ++samples_;
    latest_ = rtt;
  }

  Duration smoothed() const { return smoothed_; }
  bool measured() const { return samples_ > 0; }
  Duration min() const { return samples_ == 0 ? base_ : std::min(min_now_, min_before_); }
  Duration latest() const { return samples_ == 0 ? base_ : latest_; }
  Duration timeout() const { return std::max(floor_, smoothed_ + 4 * variance_); }

 private:
  Duration base_{};
  Duration floor_{};
  Duration smoothed_{};
  Duration variance_{};
  Duration latest_{};
  Duration min_now_{};
  Duration min_before_{};
  Time window_start_{};
  int64_t samples_ = 0;
};

}  // namespace weir
