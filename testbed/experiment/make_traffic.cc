// The traffic of an experiment, for one seed.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "testbed/experiment/distance.h"
#include "testbed/experiment/experiment.h"
#include "testbed/fabric/paths.h"

namespace weir {
namespace {

// Full headers without records in the packet; a smallest acknowledgement.
constexpr int64_t kHeaders = 94;
constexpr Bytes kSmall{102};
constexpr uint32_t kNearHosts = 66;

NetworkFacts FactsOf(const Experiment& e, const Routes& routes) {
  const Topology& topology = e.fabric.topology;
  const int64_t payload = e.transport.payload;
  const Bytes packet(payload + kHeaders);
  std::vector<Rate> rates = HostRates(topology);
  Duration latency = Duration::Max();
  // The nearest host is among the first ones; not the next one, where NICs are in planes of their
  // own.
  for (uint32_t other = 1; other < std::min(topology.hosts, kNearHosts); ++other) {
    const Duration there_and_back = BaseRtt(topology, routes, 0, other, packet, kSmall);
    if (there_and_back == Duration::Max()) continue;
    const Duration back = BaseRtt(topology, routes, 0, other, kSmall, kSmall) / 2;
    latency = std::min(latency, there_and_back - back - packet / rates[0]);
  }
  for (Rate& rate : rates) {
    rate = Scaled(rate, static_cast<double>(payload) / static_cast<double>(packet.count()));
  }
  return {.distance = [&routes](uint32_t a, uint32_t b) { return DistanceBetween(routes, a, b); },
          .latency = latency,
          .nics = std::move(rates)};
}

}  // namespace

absl::StatusOr<Traffic> MakeTraffic(const Experiment& e, uint64_t seed) {
  const TrafficSpec& spec = e.traffic;
  const uint32_t hosts = e.fabric.topology.hosts;
  switch (spec.kind) {
    case TrafficKind::kMatrix:
      return spec.matrix;
    case TrafficKind::kPermutation:
      return Permutation(hosts, spec.size, seed);
    case TrafficKind::kIncast:
      return Incast(hosts, spec.senders, spec.receiver, spec.size, spec.jitter, seed);
    case TrafficKind::kAllToAll:
      return AllToAll(hosts, spec.size);
    case TrafficKind::kRingAllReduce:
      return RingAllReduce(hosts, spec.ranks == 0 ? hosts : spec.ranks, spec.size);
    case TrafficKind::kJobs: {
      const Routes routes(e.fabric.topology);
      return MakeJobs(spec.jobs, hosts, FactsOf(e, routes), seed);
    }
  }
  return absl::InternalError("unknown traffic");
}

}  // namespace weir
