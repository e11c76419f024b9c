#include "testbed/loopback/time_scale.h"

#include <sched.h>

#include <algorithm>
#include <chrono>

#include "nic_drivers/host/engine.h"
#include "testbed/experiment/real_time.h"

namespace weir {
namespace {

// Of the machine's clock, and generous: a data packet and its acknowledgement through the fabric,
// and at their two hosts. bench/loopback_bench measures both.
constexpr double kFabricSeconds = 1.5e-6;
constexpr double kHostSeconds = 1e-6;
constexpr double kBusyShare = 0.25;
constexpr std::chrono::milliseconds kProbe(60);
constexpr double kScaleMin = 1e-6;

Duration MeasureStandstill() {
  using std::chrono::steady_clock;
  const auto begin = steady_clock::now();
  auto last = begin;
  steady_clock::duration longest{};
  while (last - begin < kProbe) {
    const auto now = steady_clock::now();
    longest = std::max(longest, now - last);
    last = now;
  }
  const auto nanos = std::chrono::duration_cast<std::chrono::nanoseconds>(longest).count();
  return std::max(kStandstillMin, 2 * Duration(nanos));
}

}  // namespace

Duration UsualStandstill() {
  static const Duration standstill = MeasureStandstill();
  return standstill;
}

uint32_t UsableCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<uint32_t>(std::max(1, CPU_COUNT(&set)));
}

uint32_t HostThreads(uint32_t hosts, uint32_t cores) {
  const uint32_t most = std::clamp(hosts, 1u, Engine::kThreadsMax);
  return std::clamp(cores > 0 ? cores - 1 : 0, 1u, most);
}

double ChooseTimeScale(const Demand& demand) {
  const double packets = static_cast<double>(demand.hosts) *
                         static_cast<double>(demand.rate.count()) /
                         (8.0 * static_cast<double>(demand.packet.count()));
  const double host_seconds = kHostSeconds / demand.host_threads;
  const double by_work = kBusyShare / (packets * std::max(kFabricSeconds, host_seconds));
  // Beyond the minimum it is the rule, which more than one event in a hundred meets.
  const double share = demand.standstill > kStandstillMin ? kLateP99Share : kGapShare;
  const double by_standstill = share * Ratio(demand.base_rtt, demand.standstill);
  const double most = std::min(by_work, by_standstill);
  double scale = 1;
  for (int step = 0; scale > most && scale > kScaleMin; ++step) scale /= step % 3 == 1 ? 2.5 : 2;
  return scale;
}

}  // namespace weir
