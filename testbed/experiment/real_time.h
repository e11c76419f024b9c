// How well a machine kept up with a run in real time.
#pragma once

#include <cstdint>
#include <string>

#include "datapath/api/units.h"

namespace weir {

// Durations are of the experiment's clock, which runs `time_scale` times as fast as the machine's.
struct RealTimeStats {
  double time_scale = 1;
  bool chosen_here = false;    // time_scale, for lack of one in the experiment
  uint32_t host_threads = 0;   // that poll the hosts; one more carries frames
  Duration fabric_late_max{};  // between a timer's due time and its handling
  Duration fabric_late_p99{};  // upper edge of its bucket: at most 1/8 too much
  Duration fabric_gap_max{};   // between two turns of the fabric
  Duration host_gap_max{};     // between two polls of a thread of hosts
  double fabric_busy = 0;      // share of turns that moved something, by time
  double host_busy = 0;        // the same of the busiest thread of hosts
  double seconds = 0;          // of the machine's clock
  std::string too_busy{};      // why the figures mean nothing, and the remedy; empty: they do
};

// The figures mean something while both hold, as shares of the base round trip.
inline constexpr double kLateP99Share = 0.1;
inline constexpr double kGapShare = 0.5;

// What to say of `stats`: empty while both shares are kept.
std::string JudgeRealTime(const RealTimeStats& stats, Duration base_rtt);

}  // namespace weir
