// How fast the RTT rises, as TIMELY and its patched form see it.
//
//   diff <- (1 - gain) diff + gain (rtt - rtt_before),   gradient = diff / base RTT
#pragma once

#include "datapath/api/units.h"

namespace weir {

class RttGradient {
 public:
  RttGradient(double gain, Duration base_rtt)
      : gain_(gain), per_base_rtt_(1 / static_cast<double>(base_rtt.count())) {}

  // False: there is nothing to compare `rtt` with yet.
  bool Add(Duration rtt) {
    const Duration before = before_;
    before_ = rtt;
    if (before == Duration(0)) return false;
    diff_ += gain_ * (static_cast<double>((rtt - before).count()) - diff_);
    return true;
  }
  double value() const { return diff_ * per_base_rtt_; }
  void Clear() {
    before_ = Duration(0);
    diff_ = 0;
  }

 private:
  double gain_;
  double per_base_rtt_;
  double diff_ = 0;    // nanoseconds
  Duration before_{};  // 0: none
};

}  // namespace weir
