#pragma once

#include <cstdint>

namespace weir {

// How a thread spent its time, since it started.
struct PollStats {
  uint64_t polls = 0;
  uint64_t busy_polls = 0;   // those that moved a frame, a posting or a completion
  uint64_t busy_cycles = 0;  // of the time-stamp counter
  uint64_t idle_cycles = 0;
  uint64_t longest_gap_cycles = 0;  // between the beginnings of two polls
  double cycles_per_second = 0;
};

}  // namespace weir
