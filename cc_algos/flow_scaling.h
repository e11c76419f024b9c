// Flow scaling, the part of Swift's and Falcon's delay target that grows as the window shrinks:
//
//   min(max(fs_alpha / sqrt(cwnd) + fs_beta, 0), fs_range)
//     fs_alpha = fs_range / (1/sqrt(fs_min) - 1/sqrt(fs_max)),  fs_beta = -fs_alpha / sqrt(fs_max)
//
// with cwnd in packets: fs_range at fs_min, nothing from fs_max on.
#pragma once

#include <algorithm>
#include <cmath>

namespace weir {

class FlowScaling {
 public:
  FlowScaling(double range, double min, double max)
      : range_(range),
        alpha_(range / (1 / std::sqrt(min) - 1 / std::sqrt(max))),
        beta_(-alpha_ / std::sqrt(max)) {}
  double At(double cwnd) const { return std::clamp(alpha_ / std::sqrt(cwnd) + beta_, 0.0, range_); }

 private:
  double range_;
  double alpha_;
  double beta_;
};

}  // namespace weir
