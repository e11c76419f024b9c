#include "testbed/experiment/real_time.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace weir {

Duration LongestGap(const RealTimeStats& stats) {
  if (!stats.fabric.has_value()) return stats.host_gap_max;
  return std::max({stats.fabric->gap_max, stats.host_gap_max, stats.fabric->late_max});
}

Duration LateP99(const RealTimeStats& stats) {
  return stats.fabric.has_value() ? stats.fabric->late_p99 : Duration(0);
}

std::string JudgeRealTime(const RealTimeStats& stats, Duration base_rtt) {
  const Duration gap = LongestGap(stats);
  const double late_share = Ratio(LateP99(stats), base_rtt) / kLateP99Share;
  const double gap_share = Ratio(gap, base_rtt) / kGapShare;
  const double excess = std::max(late_share, gap_share);
  if (excess <= 1) return "";
  // Half of what would just have done.
  std::string what = absl::StrFormat(
      "it stood still for %d ns of the experiment's time (allowed: %g of the base RTT of %d ns)",
      gap.count(), kGapShare, base_rtt.count());
  if (stats.fabric.has_value()) {
    what += absl::StrFormat(" and its fabric was %d ns late at the 99th percentile (allowed: %g)",
                            LateP99(stats).count(), kLateP99Share);
  }
  return absl::StrFormat(
      "the machine was too busy for these figures to mean anything: %s; give the run more cores, "
      "or slow it down with --set run.time_scale=%.2g",
      what, stats.time_scale / excess / 2);
}

}  // namespace weir
