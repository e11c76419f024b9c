// Random faults for the swarm.
#pragma once

#include <cstdint>
#include <string>

#include "datapath/api/rng.h"
#include "testbed/fabric/faults.h"

namespace weir {

template <class T, size_t N>
T OneOf(Rng& rng, const T (&choices)[N]) {
  return choices[rng.Below(N)];
}

// The faults by number: four kinds of trouble with links and hosts, five with packets.
inline constexpr uint32_t kFaultKinds = 9;
inline std::string FaultName(uint32_t kind) {
  constexpr const char* kNames[kFaultKinds] = {"LinkDown",   "LinkFlap",    "LinkDegraded",
                                               "HostStall",  "Loss",        "Burst",
                                               "Corruption", "Duplication", "Reordering"};
  return kNames[kind];
}

inline Impairment DrawImpairment(Rng& rng, uint32_t kind, double most) {
  switch (kind) {
    case 4:
      return {.loss = most * rng.Unit()};
    case 5:
      return {.burst_enter = 0.2 * most * rng.Unit(), .burst_leave = 0.05 + 0.5 * rng.Unit()};
    case 6:
      return {.corruption = most * rng.Unit()};
    case 7:
      return {.duplication = 2 * most * rng.Unit()};
    default:
      return {.reordering = 3 * most * rng.Unit(), .reorder_delay = Nanos(100 + rng.Below(50'000))};
  }
}

inline Fault DrawFault(Rng& rng, const Topology& topology, uint32_t kind) {
  const auto links = static_cast<uint32_t>(topology.links.size());
  Fault f{.target = rng.Below(links) & ~1u,  // the lower link of a cable
          .at = Nanos(rng.Below(500'000)),
          .lasts = Nanos(10'000 + rng.Below(1'500'000))};
  switch (kind) {
    case 0:
      break;
    case 1:
      f.kind = FaultKind::kLinkFlap;
      f.period = Nanos(5'000 + rng.Below(300'000));
      break;
    case 2:
      f.kind = FaultKind::kLinkDegraded;
      f.share = 0.05 + 0.9 * rng.Unit();
      break;
    case 3:
      f.kind = FaultKind::kHostStall;
      f.target = rng.Below(topology.hosts);
      break;
    default:
      f.kind = FaultKind::kImpairment;
      if (rng.Chance(0.5)) f.target = kAllLinks;
      f.impairment = DrawImpairment(rng, kind, f.target == kAllLinks ? 0.02 : 0.1);
      break;
  }
  return f;
}

}  // namespace weir
