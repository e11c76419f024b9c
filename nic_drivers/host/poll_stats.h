// What an engine says of its threads.
#pragma once

#include <cstdint>

namespace weir {

// How a thread spent its time, since it started.
struct PollStats {
  uint64_t busy_cycles = 0;         // of polls that moved a frame, a posting or a completion
  uint64_t idle_cycles = 0;         // of the others, and asleep
  uint64_t longest_gap_cycles = 0;  // between the beginnings of two polls, without sleeping
  double cycles_per_second = 0;
};

}  // namespace weir
