// How well the machine kept up, for people.
#include <algorithm>

#include "absl/strings/str_format.h"
#include "testbed/experiment/report.h"

namespace weir {

std::string MachineText(const std::vector<RunResult>& results) {
  double late = 0;
  double gap = 0;
  size_t runs = 0;
  size_t busy = 0;
  for (const RunResult& r : results) {
    if (!r.real_time.has_value()) continue;
    ++runs;
    const RealTimeStats& s = *r.real_time;
    busy += s.too_busy.empty() ? 0 : 1;
    if (r.base_rtt <= Duration(0)) continue;
    late = std::max(late, Ratio(s.fabric_late_p99, r.base_rtt));
    gap = std::max(
        gap, Ratio(std::max({s.fabric_gap_max, s.host_gap_max, s.fabric_late_max}), r.base_rtt));
  }
  if (runs == 0) return "";
  return absl::StrFormat(
      "In real time, arms in turn and in reverse order on every other seed. The machine %s: at "
      "worst its fabric was late by %.3f base RTTs at the 99th percentile (allowed: %g) and "
      "something stood still for %.3f (allowed: %g).",
      busy == 0 ? std::string("kept up")
                : absl::StrFormat("was too busy in %d of %d runs", busy, runs),
      late, kLateP99Share, gap, kGapShare);
}

}  // namespace weir
