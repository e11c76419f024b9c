// How well the machine kept up, for people.
#include <algorithm>

#include "absl/strings/str_format.h"
#include "testbed/experiment/report.h"

namespace weir {

std::string MachineText(const std::vector<RunResult>& results) {
  double scale = 1;
  double late = 0;
  double gap = 0;
  bool fabric = false;
  size_t runs = 0;
  size_t busy = 0;
  for (const RunResult& r : results) {
    if (!r.real_time.has_value()) continue;
    ++runs;
    const RealTimeStats& s = *r.real_time;
    scale = s.time_scale;
    busy += s.too_busy.empty() ? 0 : 1;
    if (r.base_rtt <= Duration(0)) continue;
    fabric |= s.fabric.has_value();
    late = std::max(late, Ratio(LateP99(s), r.base_rtt));
    gap = std::max(gap, Ratio(LongestGap(s), r.base_rtt));
  }
  if (runs == 0) return "";
  // A real network does not slow down with the clocks.
  const std::string dilated =
      fabric || scale == 1
          ? ""
          : absl::StrFormat(
                " Clocks ran at %g of their speed, and delays of devices and network seem so much "
                "shorter: compare arms, and take no absolute speed from these figures.",
                scale);
  std::string worst;
  if (fabric) {
    worst = absl::StrFormat(
        "its fabric was late by %.3f base RTTs at the 99th percentile (allowed: %g) and ", late,
        kLateP99Share);
  }
  return absl::StrFormat(
      "In real time, arms in turn and in reverse order on every other seed. The machine %s: at "
      "worst %ssomething stood still for %.3f base RTTs (allowed: %g).%s",
      busy == 0 ? std::string("kept up")
                : absl::StrFormat("was too busy in %d of %d runs", busy, runs),
      worst, gap, kGapShare, dilated);
}

}  // namespace weir
