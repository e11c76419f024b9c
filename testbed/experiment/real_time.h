// How well a machine kept up with a run in real time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "datapath/api/units.h"

namespace weir {

// Durations are of the experiment's clock, which runs `time_scale` times as fast as the machine's.
struct RealTimeStats {
  double time_scale = 1;
  bool chosen_here = false;   // time_scale, for lack of one in the experiment
  uint32_t host_threads = 0;  // that poll the hosts
  // Of the thread that plays the fabric; nothing where the network is real.
  struct FabricThread {
    Duration late_max{};  // between a timer's due time and its handling
    Duration late_p99{};  // upper edge of its bucket: at most 1/8 too much
    Duration gap_max{};   // between two turns
    double busy = 0;      // share of turns that moved something, by time
  };
  std::optional<FabricThread> fabric{};
  Duration host_gap_max{};  // between two polls of a thread of hosts
  double host_busy = 0;     // share of polls of the busiest that moved something, by time
  uint64_t missed = 0;      // packets that hosts' ports had no room for
  double seconds = 0;       // of the machine's clock
  std::string too_busy{};   // why the figures mean nothing, and the remedy; empty: they do
};

// The figures mean something while both hold, as shares of the base round trip.
inline constexpr double kLateP99Share = 0.1;
inline constexpr double kGapShare = 0.5;

// The longest that anything stood still, and how late the fabric was; 0 where it is real.
Duration LongestGap(const RealTimeStats& stats);
Duration LateP99(const RealTimeStats& stats);
// What to say of `stats`: empty while both shares are kept.
std::string JudgeRealTime(const RealTimeStats& stats, Duration base_rtt);

}  // namespace weir
