// From what jobs do to what the network carries.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "datapath/api/rng.h"
#include "testbed/traffic/plan_carrier.h"
#include "testbed/traffic/workload.h"

namespace weir {

// When ranks come to things.
struct Timing {
  // Each compute is multiplied by a log-normal factor exp(N(0, jitter)).
  double jitter = 0;
  // With this probability a rank is a straggler: all of its compute takes `slow_factor` as long.
  double slow_probability = 0;
  double slow_factor = 1;
  // Each rank comes to each collective later by a random time.
  enum class Skew : uint8_t { kNone, kExponential, kLogNormal } skew = Skew::kNone;
  Duration skew_mean{};  // of the exponential
  Duration skew_p99{};   // of the log-normal, whose median is a hundredth of it
};

struct JobOptions {
  CarryOptions carry{};
  uint32_t ranks_per_node = 1;
  uint32_t nics = 1;  // hosts of a rank, which its queue pairs take in turn
  uint32_t channels = 1;
  uint32_t concurrent_peers = 8;
  std::optional<Protocol> protocol{};  // none: by size, as NCCL
  // For calls that leave it open and can run with it.
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::kAuto;
  Timing timing{};
  Duration start{};
  double size_scale = 1;     // all messages are so much smaller or larger
  double compute_scale = 1;  // all compute, too
};

struct NetworkFacts {
  std::function<Distance(uint32_t, uint32_t)> distance;  // of two hosts
  Duration latency{};                                    // of one small message
  std::vector<Rate> nics{};                              // by host: payload in one direction
};

// Adds a job to `traffic`: rank r runs on hosts[r * nics] and the next ones. Fails if a collective
// can't be, or a send has no receive: names the op.
absl::Status Expand(const Workload& workload, const JobOptions& options,
                    const std::vector<uint32_t>& hosts, const NetworkFacts& network, Rng& rng,
                    Traffic& traffic);

}  // namespace weir
