// The folder of a sweep: a plan and one file a run. Files appear whole or not at all, so that a
// sweep may be killed at any moment.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "testbed/experiment/result.h"
#include "testbed/sweep/sweep.h"

namespace weir {

// Writes to a file beside `path`, to the disk, and renames it.
absl::Status WriteAtomically(const std::string& path, const std::string& text);

class SweepStore {
 public:
  explicit SweepStore(std::string folder) : folder_(std::move(folder)) {}

  // Makes the folder, writes the plan, and clears what killed writers left if nobody else writes.
  absl::Status Prepare(const Sweep& sweep, bool alone);
  // The runs of the plan that Prepare wrote.
  absl::StatusOr<std::vector<SweepRun>> ReadPlan() const;
  bool Has(const std::string& id) const;
  // What the run gave, and beside it what it cost on this machine.
  absl::Status Put(const SweepRun& run, const RunResult& result);

  const std::string& folder() const { return folder_; }
  std::string PlanPath() const { return folder_ + "/plan.json"; }
  std::string RunPath(const std::string& id) const { return folder_ + "/runs/" + id + ".json"; }
  std::string CostPath(const std::string& id) const { return folder_ + "/costs/" + id + ".json"; }

 private:
  std::string folder_;
};

// What has to run, in the order of the merged result. The same on every machine.
nlohmann::ordered_json PlanJson(const Sweep& sweep);

}  // namespace weir
