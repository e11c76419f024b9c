#include "testbed/experiment/homes.h"

#include "testbed/experiment/sampled_home.h"
#include "testbed/virtual/virtual_home.h"

#ifdef WEIR_HAS_DPDK
#include "testbed/loopback/loopback_home.h"
#include "testbed/loopback/time_scale.h"
#endif

namespace weir {
namespace {

std::unique_ptr<Home> MakeVirtual(const RunPlan& plan) {
  std::unique_ptr<Home> home = std::make_unique<VirtualHome>(
      plan.experiment().fabric.topology, WorldConfig{.seed = plan.home_seed(),
                                                     .switches = plan.switches(),
                                                     .v6 = plan.experiment().transport.v6,
                                                     .tx_pages_max = plan.tx_pages_max()});
  const SampleSpec& samples = plan.experiment().samples;
  if (samples.every == Duration(0)) return home;
  return std::make_unique<SampledHome>(std::move(home), samples);
}

}  // namespace

#ifdef WEIR_HAS_DPDK

bool HasLoopback() { return true; }

absl::StatusOr<std::unique_ptr<Home>> MakeHome(const RunPlan& plan) {
  const Experiment& e = plan.experiment();
  if (e.home == HomeKind::kVirtual) return MakeVirtual(plan);
  const uint32_t threads = HostThreads(plan.hosts(), UsableCores());
  LoopbackConfig config{.seed = plan.home_seed(),
                        .switches = plan.switches(),
                        .v6 = e.transport.v6,
                        .packet = plan.packet_wire(),
                        .bdp = plan.bdp(),
                        .time_scale = e.time_scale,
                        .chosen_here = e.time_scale == 0,
                        .host_threads = threads};
  if (config.chosen_here) {
    config.time_scale = ChooseTimeScale({.hosts = plan.hosts(),
                                         .rate = plan.host_rate(),
                                         .packet = plan.packet_wire(),
                                         .base_rtt = plan.base_rtt(),
                                         .host_threads = threads,
                                         .standstill = UsualStandstill()});
  }
  return std::make_unique<LoopbackHome>(e.fabric.topology, config);
}

#else

bool HasLoopback() { return false; }

absl::StatusOr<std::unique_ptr<Home>> MakeHome(const RunPlan& plan) { return MakeVirtual(plan); }

#endif

}  // namespace weir
