// One run of the swarm, drawn from its seed: a small network, its connections and its misfortunes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cc_algos/registry.h"
#include "lb_policies/registry.h"
#include "testbed/virtual/world.h"
#include "tests/support/swarm_faults.h"

namespace weir {

enum class Ending : uint8_t { kClose, kAbort, kVanish };

struct SwarmPlan {
  uint64_t seed = 0;
  Topology topology;
  WorldConfig world{};
  EndpointConfig endpoint{};
  std::vector<Fault> faults;  // all over by `faults_end`
  Ending ending = Ending::kClose;
  bool rebinds = false;
  uint32_t connections = 1;
};

inline constexpr Duration kFaultsEnd = Millis(4);

inline Topology DrawTopology(Rng& rng) {
  const Rate rate = Gbps(OneOf(rng, {10, 25, 100, 400}));
  const Duration delay = Nanos(200 + rng.Below(1800));
  switch (rng.Below(4)) {
    case 0:
      return SingleBottleneck({.senders = 1 + rng.Below(6), .rate = rate, .delay = delay});
    case 1:
      return Dumbbell({.pairs = 1 + rng.Below(4),
                       .rate = rate,
                       .bottleneck = rate / (1 + rng.Below(4)),
                       .delay = delay});
    case 2:
      return LeafSpine({.leaves = 2 + rng.Below(2),
                        .hosts_per_leaf = 1 + rng.Below(3),
                        .spines = 1 + rng.Below(4),
                        .rate = rate,
                        .uplink_rate = rng.Chance(0.3) ? rate / 2 : rate,
                        .delay = delay});
    default:
      return FatTree({.pods = 2,
                      .leaves_per_pod = 2,
                      .aggs_per_pod = 2,
                      .hosts_per_leaf = 1 + rng.Below(2),
                      .cores = 2 * (1 + rng.Below(2)),
                      .rate = rate,
                      .delay = delay});
  }
}

// The longest empty round trip between any two hosts.
inline Duration LongestRtt(const Topology& topology, Bytes mtu) {
  const World world(topology, {.packets_max = 1, .tx_pages_max = 1});
  Duration longest{};
  for (uint32_t a = 0; a < topology.hosts; ++a) {
    for (uint32_t b = 0; b < topology.hosts; ++b) {
      if (a != b) longest = std::max(longest, world.BaseRtt(a, b, mtu, Bytes(100)));
    }
  }
  return longest;
}

// Queues of 5 to 200 packets, or a buffer shared by all; lossless ones have room to spare.
inline SwitchConfig DrawSwitches(Rng& rng, Bytes mtu) {
  SwitchConfig s;
  const Bytes depth = mtu * (5 + rng.Below(196));
  s.pfc = rng.Chance(0.2);
  if (s.pfc) {
    s.buffer = MiB(64);
    s.pfc_xoff = mtu * (3 + rng.Below(40));
  } else if (rng.Chance(0.4)) {
    s.buffer = depth * 4;
    s.alpha = OneOf(rng, {0.25, 1.0, 4.0});
  } else {
    s.queue_limit = depth;
  }
  s.mark_min = depth / (2 + rng.Below(8));
  s.mark_max = rng.Chance(0.5) ? s.mark_min : depth;
  s.mark_last_hop = rng.Chance(0.7);
  s.mark_on_enqueue = rng.Chance(0.3);
  // Headers of 94 B go first: where the overload times 94 B reaches a packet's size, as it does
  // here (16 times) with small ones, only headers get through.
  s.trimming = mtu > KiB(2) && rng.Chance(0.6);
  s.telemetry = rng.Chance(0.3);
  s.balancing = OneOf(rng, {SwitchBalancing::kEcmp, SwitchBalancing::kEcmp,
                            SwitchBalancing::kAdaptive, SwitchBalancing::kRoundRobin});
  if (rng.Chance(0.5)) s.reroute_after = Micros(rng.Below(500));
  if (rng.Chance(0.2)) s.control_limit = KiB(4);
  s.path_load = rng.Chance(0.3);
  return s;
}

// Any algorithm and policy that go together, that the network has the signals for, and the
// endpoints the receiver half.
inline Binding DrawBinding(Rng& rng, Signals signals, const CreditEntry& credit) {
  Binding b;
  const auto other_half = [&] {
    return b.cc->receiver_half != nullptr && b.cc->receiver_half->id != credit.id;
  };
  do {
    b.cc = &AllCc()[rng.Below(static_cast<uint32_t>(AllCc().size()))];
    b.lb = &AllLb()[rng.Below(static_cast<uint32_t>(AllLb().size()))];
    b.cc_config = b.cc->defaults();
    b.lb_config = b.lb->defaults();
  } while (!(b.cc->needs | b.lb->needs).Without(signals).empty() || other_half() ||
           b.mismatch() != nullptr);
  b.paths = rng.Chance(0.2) ? 1 : 1 + rng.Below(64);
  return b;
}

inline EndpointConfig DrawEndpoint(Rng& rng, const SwitchConfig& switches, Bytes payload) {
  EndpointConfig e;
  e.payload_max = static_cast<uint16_t>(payload.count());
  e.payload_crc = true;
  e.trimming = switches.trimming;
  e.regions_max = 64;
  const CcEntry* driven = FindCc("rccc");
  if (rng.Chance(0.7)) {
    do {
      driven = &AllCc()[rng.Below(static_cast<uint32_t>(AllCc().size()))];
    } while (driven->receiver_half == nullptr);
  }
  e.credit = driven->receiver_half;
  e.credit_config = driven->defaults();
  e.open_timeout = Millis(500);
  if (rng.Chance(0.2)) e.tx_messages_max = 8;
  if (switches.telemetry) e.signals = e.signals | Signal::kTelemetry;
  if (switches.path_load) e.signals = e.signals | Signal::kPathLoad;
  if (switches.trimming) e.signals = e.signals | Signal::kTrimNotice;
  return e;
}

inline SwarmPlan DrawPlan(uint64_t seed) {
  Rng rng(seed);
  SwarmPlan plan;
  plan.seed = seed;
  plan.topology = DrawTopology(rng);
  const Bytes payload(rng.Chance(0.5) ? OneOf(rng, {256, 1024, 4096, 8192})
                                      : 256 + static_cast<int>(rng.Below(7937)));
  const Bytes mtu = payload + Bytes(DataOverhead(true, InBand::kTelemetry));
  plan.world = {.seed = seed,
                .switches = DrawSwitches(rng, mtu),
                .v6 = rng.Chance(0.5),
                .packets_max = 1 << 15,
                .tx_pages_max = rng.Chance(0.1) ? 3 + rng.Below(6) : 1u << 12};
  plan.endpoint = DrawEndpoint(rng, plan.world.switches, payload);
  plan.endpoint.base_rtt = LongestRtt(plan.topology, mtu);
  plan.endpoint.max_queue = 4 * plan.endpoint.base_rtt;
  plan.connections = 1 + rng.Below(8);
  for (uint32_t i = rng.Below(4); i > 0; --i) {
    plan.faults.push_back(DrawFault(rng, plan.topology, rng.Below(kFaultKinds)));
  }
  plan.rebinds = rng.Chance(0.3);
  const uint32_t ending = rng.Below(10);
  plan.ending = ending == 0 ? Ending::kVanish : ending <= 2 ? Ending::kAbort : Ending::kClose;
  return plan;
}

}  // namespace weir
