// What one run of one arm on one seed gave.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datapath/api/units.h"
#include "datapath/counters.h"
#include "testbed/experiment/real_time.h"
#include "testbed/experiment/samples.h"
#include "testbed/experiment/statistics.h"
#include "testbed/fabric/fabric.h"

namespace weir {

struct TransferResult {
  uint32_t from = 0;
  uint32_t to = 0;
  uint32_t label = 0;
  Bytes size{};
  Duration start{};     // after the beginning of traffic; Max: never started
  Duration sent{};      // when the sender had the last acknowledgement; Max: not finished
  Duration received{};  // when the receiver had the last byte; Max: not finished
  Duration ideal{};     // sent - start of this transfer alone

  bool finished() const { return sent != Duration::Max(); }
};

struct RunResult {
  std::string arm{};
  uint64_t seed = 0;
  bool finished = false;  // every transfer, within the time limit
  std::vector<TransferResult> transfers{};
  Summary completion{};        // ns, of sent - start
  Summary slowdown{};          // completion / ideal
  Duration makespan{};         // first start to last end
  Duration ideal{};            // of the makespan
  double goodput_bps = 0;      // payload of finished transfers over the makespan
  double fairness = 1;         // Jain's index over size / completion
  double link_load_ratio = 1;  // busiest over mean, of the links between switches, worst tier
  uint32_t links_used = 0;     // of these links
  Bytes queue_peak{};          // of a switch output
  Duration base_rtt{};
  Bytes bdp{};
  Counters counters{};
  FabricStats fabric{};
  uint64_t pauses = 0;
  Duration paused{};
  uint64_t events = 0;
  double cpu_seconds = 0;                    // of this machine; not part of the digest
  uint64_t digest = 0;                       // 0 in real time, which does not repeat to the bit
  std::optional<RealTimeStats> real_time{};  // in the loopback testbed
  std::optional<Samples> samples{};          // if the experiment asks for them
  std::vector<std::string> warnings{};
  std::vector<std::string> breaches{};  // conservation laws that did not hold; must be empty
};

}  // namespace weir
