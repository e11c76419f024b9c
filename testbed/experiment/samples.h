// What a run looked like over time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datapath/api/units.h"

namespace weir {

// One entry a sample in each vector. "Switch links" are those between switches, or towards hosts
// where there is only one switch.
struct Samples {
  Duration every{};
  std::vector<Duration> at{};           // since the start of traffic
  std::vector<Bytes> queue_max{};       // of all switch outputs
  std::vector<Bytes> queue_mean{};      // over all switch outputs
  std::vector<double> load_max{};       // of the switch links, share of their rate since the
  std::vector<double> load_mean{};      // sample before
  std::vector<double> delivered_bps{};  // over all links to hosts, headers included
  std::string flow{};                   // "host 0 to host 5"
  std::vector<double> window_bytes{};   // that the flow's algorithm allows; NaN: no limit
  std::vector<double> rate_bps{};       // the same
  std::vector<Bytes> in_flight{};       // of the flow
};

// Which samples to take. In virtual time only.
struct SampleSpec {
  Duration every{};  // 0: none
  // The flow whose window and rate are looked at: the first connection between these hosts.
  uint32_t from = 0;
  uint32_t to = 0;
  bool any_flow = true;  // the first connection that opens
};

}  // namespace weir
