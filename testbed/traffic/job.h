// One job of an experiment: what it does, on which hosts, how its messages travel.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "testbed/traffic/expand.h"
#include "testbed/traffic/placement.h"
#include "testbed/traffic/templates.h"

namespace weir {

struct JobSpec {
  std::string name;  // "" : that of its workload
  std::variant<CollectiveJob, DdpJob, FsdpJob, TransformerJob, DlrmJob, CheckpointJob,
               KvTransferJob, DecodeJob, std::shared_ptr<const Workload>>
      what;
  JobOptions options{};
  Placement placement{};
  std::string share;  // its first ranks run on the hosts of the job of that name; "": none
};

// What random draws the workload has are from `rng`.
Workload MakeWorkload(const JobSpec& spec, Rng& rng);

// All jobs on one fabric of `hosts` hosts. Fails as Expand and HostPool do.
absl::StatusOr<Traffic> MakeJobs(const std::vector<JobSpec>& specs, uint32_t hosts,
                                 const NetworkFacts& network, uint64_t seed);

}  // namespace weir
