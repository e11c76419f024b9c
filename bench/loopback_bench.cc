// Cost of a data packet in the loopback testbed, with its share of acknowledgements: through the
// fabric, which is the work of one thread, and at its two hosts, which is that of others. Here one
// thread does all, so that nobody waits. ChooseTimeScale rests on these figures.
#include <benchmark/benchmark.h>
#include <x86intrin.h>

#include <memory>
#include <string>

#include "cc_algos/registry.h"
#include "datapath/poll_loop.h"
#include "lb_policies/registry.h"
#include "testbed/fabric/host_address.h"
#include "testbed/fabric/paths.h"
#include "testbed/loopback/carrier.h"

namespace weir {
namespace {

constexpr uint32_t kPackets = 200;  // of a transfer
constexpr uint16_t kPayload = 4096;
// Turns that take longer were interrupted.
constexpr uint64_t kCyclesMax = 100'000;

struct Host {
  RingDevice ring{};
  std::unique_ptr<Endpoint> endpoint;
};

struct Cost {
  uint64_t cycles = 0;
  void Add(uint64_t since) {
    const uint64_t passed = __rdtsc() - since;
    if (passed < kCyclesMax) cycles += passed;
  }
};

void OnePacket(benchmark::State& state) {
  // Four links on the way, as between leaves.
  const Topology topology =
      LeafSpine({.leaves = 2, .hosts_per_leaf = 1, .spines = 2, .rate = Gbps(400)});
  Binding binding{.cc = FindCc("nscc"), .lb = FindLb("reps")};
  binding.cc_config = binding.cc->defaults();
  binding.lb_config = binding.lb->defaults();
  Host hosts[2];
  Carrier carrier(topology, {});
  for (uint32_t i = 0; i < 2; ++i) {
    DeviceOptions options;
    options.address = "10.0.0." + std::to_string(i + 1) + "/24";
    options.mtu = 9000;
    options.line_rate = Gbps(400);
    absl::StatusOr<RingDevice> ring = OpenRingDevice(options);
    if (!ring.ok()) return state.SkipWithError(std::string(ring.status().message()).c_str());
    hosts[i].ring = *std::move(ring);
    EndpointConfig config;
    config.address = HostAddress(i, false);
    config.binding = &binding;
    config.line_rate = Gbps(400);
    config.base_rtt = Micros(9);
    config.payload_max = kPayload;
    hosts[i].endpoint = *Endpoint::Create(config);
    (void)hosts[i].endpoint->RegisterRegion(nullptr, uint64_t{1} << 40);
    carrier.Attach(i, *hosts[i].ring.far_end);
  }
  Cost fabric;
  Cost ends;
  uint32_t sent = 0;
  bool opened = false;
  const auto turn = [&] {
    const uint64_t begin = __rdtsc();
    const bool moved = carrier.Turn(hosts[0].ring.far_end->Now());
    if (moved) fabric.Add(begin);
    for (Host& host : hosts) {
      const uint64_t polled = __rdtsc();
      const bool busy = PollOnce(host.ring.device->queue(0), *host.endpoint) > 0;
      if (busy) ends.Add(polled);
      Completion c;
      while (host.endpoint->PollCompletion(c)) {
        opened |= c.event == Event::kOpened;
        sent += c.event == Event::kSent ? 1 : 0;
      }
    }
  };
  NicPort& port = hosts[0].ring.device->queue(0);
  const WireId id = *hosts[0].endpoint->Connect(port.Now(), HostAddress(1, false), binding);
  while (!opened) turn();
  fabric = ends = Cost();
  uint32_t transfers = 0;
  for (auto _ : state) {
    (void)hosts[0].endpoint->PostWrite(port.Now(), id, {.length = kPackets * kPayload});
    ++transfers;
    while (sent < transfers) turn();
  }
  const double packets = static_cast<double>(transfers) * kPackets;
  state.SetItemsProcessed(static_cast<int64_t>(packets));
  state.counters["fabric_cycles"] = static_cast<double>(fabric.cycles) / packets;
  state.counters["hosts_cycles"] = static_cast<double>(ends.cycles) / packets;
}
BENCHMARK(OnePacket);

}  // namespace
}  // namespace weir
