#include "testbed/traffic/job.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace weir {
namespace {

struct Maker {
  Rng& rng;

  Workload operator()(const CollectiveJob& job) { return MakeCollectives(job, rng); }
  Workload operator()(const DdpJob& job) { return MakeDdp(job); }
  Workload operator()(const FsdpJob& job) { return MakeFsdp(job); }
  Workload operator()(const TransformerJob& job) { return MakeTransformer(job, rng); }
  Workload operator()(const DlrmJob& job) { return MakeDlrm(job, rng); }
  Workload operator()(const CheckpointJob& job) { return MakeCheckpoint(job, rng); }
  Workload operator()(const KvTransferJob& job) { return MakeKvTransfer(job); }
  Workload operator()(const DecodeJob& job) { return MakeDecode(job); }
  Workload operator()(const std::shared_ptr<const Workload>& workload) { return *workload; }
};

// The hosts of a job: those of the job it shares with first, then its own.
absl::StatusOr<std::vector<uint32_t>> HostsFor(const JobSpec& spec, uint32_t count,
                                               const Traffic& before, HostPool& pool, Rng& rng) {
  std::vector<uint32_t> hosts;
  if (!spec.share.empty()) {
    const auto shared = std::find_if(before.jobs.begin(), before.jobs.end(),
                                     [&](const Job& job) { return job.name == spec.share; });
    if (shared == before.jobs.end()) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "share = \"%s\": there is no job of that name before this one", spec.share));
    }
    hosts.assign(shared->hosts.begin(),
                 shared->hosts.begin() + std::min<ptrdiff_t>(count, std::ssize(shared->hosts)));
  }
  const uint32_t more = count - static_cast<uint32_t>(hosts.size());
  if (more == 0) return hosts;
  absl::StatusOr<std::vector<uint32_t>> own =
      pool.Take(more, spec.options.ranks_per_node * spec.options.nics, spec.placement, rng);
  if (!own.ok()) return own.status();
  hosts.insert(hosts.end(), own->begin(), own->end());
  return hosts;
}

}  // namespace

Workload MakeWorkload(const JobSpec& spec, Rng& rng) {
  Workload workload = std::visit(Maker{rng}, spec.what);
  if (!spec.name.empty()) workload.name = spec.name;
  return workload;
}

absl::StatusOr<Traffic> MakeJobs(const std::vector<JobSpec>& specs, uint32_t hosts,
                                 const NetworkFacts& network, uint64_t seed) {
  Traffic traffic;
  traffic.hosts = hosts;
  HostPool pool(hosts);
  Rng rng(seed);
  for (const JobSpec& spec : specs) {
    const Workload workload = MakeWorkload(spec, rng);
    absl::StatusOr<std::vector<uint32_t>> placed =
        HostsFor(spec, workload.ranks * spec.options.nics, traffic, pool, rng);
    if (!placed.ok()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("job \"%s\": %s", workload.name, std::string(placed.status().message())));
    }
    if (absl::Status bad = Expand(workload, spec.options, *placed, network, rng, traffic);
        !bad.ok()) {
      return bad;
    }
    traffic.name += (traffic.name.empty() ? "" : "; ") + workload.name;
  }
  if (traffic.transfers.empty()) {
    return absl::InvalidArgumentError(traffic.name +
                                      ": nothing crosses the network; take more nodes");
  }
  return traffic;
}

}  // namespace weir
