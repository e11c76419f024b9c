// The active side of `weir perf`: bandwidth, message rate, latency.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nic_drivers/host/context.h"
#include "testbed/perf/protocol.h"

namespace weir {

struct PerfPlan {
  PerfKind kind = PerfKind::kWrite;
  uint32_t length = 65536;     // bytes of a message
  uint64_t iterations = 5000;  // messages, over all connections; 0: as long as `seconds`
  double seconds = 0;          // > 0: measure so long instead
  uint64_t warm_up = 100;      // messages before
  uint32_t connections = 1;    // "queue pairs"
  uint32_t depth = 128;        // messages under way, a connection
};

// Names of perftest's columns where it has one. Times in microseconds, of half a round trip.
struct PerfResult {
  PerfPlan plan{};
  uint64_t messages = 0;
  double elapsed = 0;         // seconds
  double bandwidth = 0;       // bits a second, average
  double bandwidth_peak = 0;  // the best of 20 equal parts of the run
  double rate = 0;            // messages a second
  double t_min = 0, t_max = 0, t_typical = 0, t_avg = 0, t_stdev = 0, t_99 = 0, t_999 = 0;
  std::vector<ConnectionInfo> connections;  // at the end
  Counters counters{};                      // during the run, ours
  DeviceCounters device{};                  // ours
  PollStats polls{};                        // of worker 0
};

// `turn` is called while it waits: a server in the same process does its part there.
absl::StatusOr<PerfResult> RunPerf(Context& context, const std::string& remote,
                                   const PerfPlan& plan, const std::function<void()>& turn = {});

}  // namespace weir
