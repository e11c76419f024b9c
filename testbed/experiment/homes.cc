#include "testbed/experiment/homes.h"

#include <algorithm>

#include "testbed/experiment/sampled_home.h"
#include "testbed/live/open_ports.h"
#include "testbed/live/ports_home.h"
#include "testbed/live/rdma_home.h"
#include "testbed/loopback/time_scale.h"
#include "testbed/virtual/virtual_home.h"

#ifdef WEIR_HAS_DPDK
#include "testbed/loopback/loopback_home.h"
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

absl::StatusOr<std::unique_ptr<Home>> MakePorts(const RunPlan& plan) {
  const Experiment& e = plan.experiment();
  PortsConfig config{.seed = plan.home_seed(),
                     .time_scale = e.time_scale == 0 ? 1 : e.time_scale,
                     .host_threads = HostThreads(plan.hosts(), UsableCores()),
                     .rates = plan.host_rates()};
  config.idle_sleep = UsableCores() <= config.host_threads;
  const auto mtu = static_cast<uint32_t>(plan.packet_wire().count()) - kEthernetBytes - kFcsBytes;
  std::vector<PortDemand> demands;
  for (size_t i = 0; i < e.ports.size(); ++i) {
    demands.push_back({.mtu = mtu,
                       .v6 = e.transport.v6,
                       .rate = config.rates[i],
                       .time_scale = config.time_scale});
  }
  auto devices = OpenPorts(e.ports, demands);
  if (!devices.ok()) return devices.status();
  return std::make_unique<PortsHome>(*std::move(devices), config);
}

absl::StatusOr<std::unique_ptr<Home>> MakeRdma(const RunPlan& plan) {
  const Experiment& e = plan.experiment();
  RdmaConfig config{.seed = plan.home_seed(),
                    .time_scale = e.time_scale == 0 ? 1 : e.time_scale,
                    .chunk_bytes = e.transport.chunk,
                    .rates = plan.host_rates()};
  for (const Transfer& t : plan.traffic().transfers) {
    config.region = std::max(config.region, static_cast<uint64_t>(t.size.count()));
  }
  auto devices = OpenRdmaPorts(e.ports, config);
  if (!devices.ok()) return devices.status();
  return std::make_unique<RdmaHome>(*std::move(devices), config);
}

#ifdef WEIR_HAS_DPDK
absl::StatusOr<std::unique_ptr<Home>> MakeLoopback(const RunPlan& plan) {
  const Experiment& e = plan.experiment();
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
#endif

}  // namespace

#ifdef WEIR_HAS_DPDK
bool HasLoopback() { return true; }
#else
bool HasLoopback() { return false; }
#endif

absl::StatusOr<std::unique_ptr<Home>> MakeHome(const RunPlan& plan) {
  switch (plan.experiment().home) {
    case HomeKind::kVirtual:
      break;
    case HomeKind::kPorts:
      return MakePorts(plan);
    case HomeKind::kRdma:
      return MakeRdma(plan);
    case HomeKind::kLoopback:
#ifdef WEIR_HAS_DPDK
      return MakeLoopback(plan);
#else
      break;  // CheckExperiment has refused it
#endif
  }
  return MakeVirtual(plan);
}

}  // namespace weir
