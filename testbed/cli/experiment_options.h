// What `weir run` and `weir ab` have in common: which experiment, and where its results go.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "testbed/experiment/ab.h"
#include "testbed/experiment/experiment.h"
#include "testbed/experiment/league.h"
#include "testbed/experiment/result.h"

namespace weir {

struct ExperimentOptions {
  std::string file;
  std::vector<std::string> sets;
  std::vector<uint64_t> seeds;
  std::string json;
  std::string home;
  bool quiet = false;
  // The short form, without a file.
  std::string topology;
  std::string traffic;
  std::string cc;
  std::string lb;
  std::string more;  // TOML that follows what the short form says
};

void AddExperimentOptions(CLI::App& command, ExperimentOptions& options);

// From the file or from the short form.
absl::StatusOr<Experiment> MakeExperiment(const ExperimentOptions& options);

// Runs every arm on every seed, arm by arm within a seed, and shows progress on a terminal.
std::vector<RunResult> RunAll(const Experiment& experiment, bool quiet);

// Writes the JSON document if it was asked for. kExitOk or what went wrong.
int WriteJson(const ExperimentOptions& options, const Experiment& experiment,
              const std::vector<RunResult>& results, const AbResult* ab,
              const League* league = nullptr);

// What must be known beside the figures: a busy machine, warnings, broken conservation laws.
void PrintRemarks(const std::vector<RunResult>& results);

// kExitFailed if a run did not finish or broke a conservation law.
int ExitCodeOf(const std::vector<RunResult>& results);

}  // namespace weir
