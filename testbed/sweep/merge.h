// From the folders of a sweep to one result, which does not depend on where its runs ran.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "testbed/experiment/ab.h"
#include "testbed/experiment/result.h"
#include "testbed/sweep/sweep.h"

namespace weir {

struct PlannedRun {
  std::string id{};
  uint32_t point = 0;
  uint64_t seed = 0;
};

class SweepFolders {
 public:
  // Each folder is the --out of a `weir sweep` of the same sweep.
  static absl::StatusOr<SweepFolders> Open(const std::vector<std::string>& folders);

  const std::string& name() const { return name_; }
  const std::vector<Factor>& factors() const { return factors_; }  // values as people write them
  uint32_t points() const { return points_; }
  std::vector<std::string> keys() const;
  std::vector<std::string> ValuesAt(uint32_t point) const {
    return weir::ValuesAt(factors_, point);
  }
  const std::vector<PlannedRun>& runs() const { return runs_; }
  // Runs that no folder has.
  size_t missing() const { return missing_; }

  // The stored runs in the order of the plan; those that are missing are left out. `text` is one
  // line without its end.
  using OnRun =
      std::function<absl::Status(uint32_t point, const RunResult&, const std::string& text)>;
  absl::Status ForEachRun(const OnRun& on_run) const;
  // A comparison of the arms at each point, corrected for all of them together. Without arms to
  // compare, or runs of all, a point has no differences.
  absl::StatusOr<std::vector<AbResult>> Compare() const;
  // The whole document, schema weir.sweep/1.
  absl::Status Write(const std::string& path, const std::vector<AbResult>& comparisons) const;

 private:
  absl::Status ReadPlan(const nlohmann::json& plan);
  nlohmann::json HeadJson(const std::vector<AbResult>& comparisons) const;

  std::string version_;
  std::string revision_;
  std::string name_;
  std::vector<Factor> factors_;
  uint32_t points_ = 0;
  std::vector<PlannedRun> runs_;
  std::vector<std::string> paths_;  // by run; empty: missing
  size_t missing_ = 0;
};

}  // namespace weir
