// A connection of the swarm as its two ends see it.
#pragma once

#include <string>

#include "absl/strings/str_format.h"
#include "tests/support/swarm_lane.h"

namespace weir {

struct SwarmSide {
  uint32_t host = 0;
  WireId id{};
  uint32_t region = 0;  // for the other side's writes
  int opened = 0;
  int ended = 0;
  Completion end{};
};

// Side 0 opens; lane s carries what side s sends.
struct SwarmPair {
  SwarmPair(Rng& rng, uint32_t payload)
      : lanes{{rng, payload, 400'000, 14}, {rng, payload, 200'000, 8}} {}

  bool done() const { return lanes[0].done() && lanes[1].done(); }

  SwarmSide sides[2];
  Lane lanes[2];
  bool aborted = false;
  bool closing = false;
};

inline std::string Describe(const SwarmPair& pair) {
  return absl::StrFormat("host %d to %d: opened %d, done %d and %d, ended %d (%s) and %d (%s)",
                         pair.sides[0].host, pair.sides[1].host, pair.sides[0].opened,
                         pair.lanes[0].done(), pair.lanes[1].done(), pair.sides[0].ended,
                         Name(pair.sides[0].end.cause), pair.sides[1].ended,
                         Name(pair.sides[1].end.cause));
}

}  // namespace weir
