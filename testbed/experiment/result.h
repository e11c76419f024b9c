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

// What the time of a collective or a step was spent on.
enum class TimePart : uint8_t {
  kPeers,          // the first rank waits for the one that matters
  kCompute,        // of a rank
  kLocal,          // copies within a node, late starts
  kClearToSend,    // on its way
  kCredit,         // not granted by the receiver
  kWindow,         // held back by the algorithm's window or rate
  kSender,         // behind other messages at the sender
  kRecovery,       // until something lost is sent again
  kSerialisation,  // of the bytes at the sender's line rate
  kPropagation,    // of the last packet and its acknowledgement: the idle network
  kQueueing,       // of the last packet
  kReordering,     // there, but held for something earlier
};
inline constexpr size_t kTimeParts = 12;
const char* Name(TimePart part);  // "clear_to_send"
// By part; empty: not asked for, or not finished.
using Breakdown = std::vector<Duration>;

// One collective, or one transfer between ranks.
struct OperationResult {
  std::string name{};  // "all_reduce"
  Bytes size{};        // as nccl-tests counts it
  uint32_t ranks = 0;
  double bus_factor = 1;     // bus bandwidth over algorithm bandwidth
  Duration first_arrival{};  // of a rank, after the beginning of traffic; Max: none came
  Duration last_arrival{};   // Max: not all came
  Duration end{};            // when the last rank was done; Max: not finished
  uint32_t last_rank = 0;    // who came last
  Duration ideal{};          // closed form, since the last arrival; 0: not known
  Breakdown breakdown{};     // adds up to end - first_arrival

  bool finished() const { return end != Duration::Max(); }
  // Bytes a second; since the first arrival, as a caller sees it.
  double algorithm_bandwidth() const {
    const double seconds = static_cast<double>((end - first_arrival).count()) * 1e-9;
    return seconds > 0 ? static_cast<double>(size.count()) / seconds : 0;
  }
  double bus_bandwidth() const { return algorithm_bandwidth() * bus_factor; }
};

// One step of a job.
struct StepResult {
  Duration time{};        // from the last rank's end of the step before; Max: not finished
  Duration compute{};     // a rank's mean
  Duration exposed{};     // mean of what is left: waiting for communication
  Breakdown breakdown{};  // adds up to `time`
};
struct JobResult {
  std::string name{};
  uint32_t ranks = 0;
  std::vector<StepResult> steps{};
  // Ranks that come to collectives much later than the others, the slowest first, and their mean
  // lateness after the first rank.
  struct SlowRank {
    uint32_t rank = 0;
    Duration lateness{};
  };
  std::vector<SlowRank> slow_ranks{};
};

// How many connections of an arm one of its rules decided.
struct RuleUse {
  std::string rule{};
  uint32_t connections = 0;
};

// What a modelled fabric saw of a run.
struct FabricResult {
  FabricStats stats{};
  double link_load_ratio = 1;  // busiest over mean, of the links between switches, worst tier
  uint32_t links_used = 0;     // of these links
  Bytes queue_peak{};          // of a switch output
  uint64_t pauses = 0;
  Duration paused{};
};

struct RunResult {
  std::string arm{};
  std::vector<RuleUse> rules{};  // if the arm has any
  uint64_t seed = 0;
  bool finished = false;  // every transfer, within the time limit
  std::vector<TransferResult> transfers{};
  std::vector<OperationResult> operations{};
  std::vector<JobResult> jobs{};
  Summary completion{};    // ns, of sent - start
  Summary slowdown{};      // completion / ideal
  Duration makespan{};     // first start to last end
  Duration ideal{};        // of the makespan
  double goodput_bps = 0;  // payload of finished transfers over the makespan
  double fairness = 1;     // Jain's index over size / completion
  Duration base_rtt{};
  Bytes bdp{};
  Counters counters{};
  std::optional<FabricResult> fabric{};  // of a modelled one; a real network does not tell
  uint64_t events = 0;
  double cpu_seconds = 0;                    // of this machine; not part of the digest
  uint64_t digest = 0;                       // 0 in real time, which does not repeat to the bit
  std::optional<RealTimeStats> real_time{};  // nothing in virtual time
  std::optional<Samples> samples{};          // if the experiment asks for them
  std::vector<std::string> warnings{};
  std::vector<std::string> breaches{};  // conservation laws that did not hold; must be empty
};

}  // namespace weir
