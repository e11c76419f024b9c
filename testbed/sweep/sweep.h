// A sweep: an experiment whose file has [sweep], with factors that are crossed. Its runs are every
// arm on every seed at every point, each with an id that follows from what it will do.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "testbed/experiment/experiment.h"

namespace weir {

struct Factor {
  std::string key{};                  // as --set takes it
  std::vector<std::string> values{};  // TOML text
};
// Points count through the factors' values, the last factor's first. One value a factor.
std::vector<std::string> ValuesAt(const std::vector<Factor>& factors, uint32_t point);
// "traffic.size = 1MB, fabric.spines = 4"; "the only point" without factors.
std::string PointText(const std::vector<Factor>& factors, uint32_t point);

struct SweepRun {
  std::string id{};  // 36 characters, the same wherever it runs
  uint32_t point = 0;
  uint32_t arm = 0;  // by number
  uint64_t seed = 0;
};

class Sweep {
 public:
  // Reads the file. ExperimentAt works, runs() is empty.
  static absl::StatusOr<Sweep> Open(const std::string& path,
                                    const std::vector<std::string>& overrides);
  // Also works out all points, and refuses the sweep if one of them is no experiment.
  static absl::StatusOr<Sweep> Load(const std::string& path,
                                    const std::vector<std::string>& overrides);

  const std::string& name() const { return name_; }
  const std::vector<Factor>& factors() const { return factors_; }
  // By point, then seed, then arm.
  const std::vector<SweepRun>& runs() const { return runs_; }
  uint32_t points() const { return points_; }
  HomeKind home() const { return home_; }
  // Of a point: a value for each factor. The first factor changes slowest.
  std::vector<std::string> ValuesAt(uint32_t point) const {
    return weir::ValuesAt(factors_, point);
  }
  absl::StatusOr<Experiment> ExperimentAt(uint32_t point) const;

 private:
  absl::Status ReadFactors(const toml::table& table, const std::vector<std::string>& overrides);
  absl::Status PlanRuns();

  std::string name_;
  std::string file_;
  toml::table base_;  // overridden, without [sweep]
  std::vector<Factor> factors_;
  uint32_t points_ = 1;
  HomeKind home_ = HomeKind::kVirtual;
  std::vector<SweepRun> runs_;
};

// The identity of a run: all that its experiment was given (the contents of files, too), but for
// names, seeds and other arms; the program's revision; arm and seed.
std::string RunId(const Experiment& experiment, uint32_t arm, uint64_t seed);

}  // namespace weir
