#include "testbed/experiment/real_time.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace weir {

std::string JudgeRealTime(const RealTimeStats& stats, Duration base_rtt) {
  const Duration gap = std::max({stats.fabric_gap_max, stats.host_gap_max, stats.fabric_late_max});
  const double late_share = Ratio(stats.fabric_late_p99, base_rtt) / kLateP99Share;
  const double gap_share = Ratio(gap, base_rtt) / kGapShare;
  const double excess = std::max(late_share, gap_share);
  if (excess <= 1) return "";
  // Half of what would just have done.
  return absl::StrFormat(
      "the machine was too busy for these figures to mean anything: it stood still for %d ns of "
      "the experiment's time (allowed: %g of the base RTT of %d ns) and its fabric was %d ns late "
      "at the 99th percentile (allowed: %g); give the run more cores, or slow it down with "
      "--set run.time_scale=%.2g",
      gap.count(), kGapShare, base_rtt.count(), stats.fabric_late_p99.count(), kLateP99Share,
      stats.time_scale / excess / 2);
}

}  // namespace weir
