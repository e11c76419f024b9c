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
  std::string csv;
  std::string html;
  std::string trace;
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
// Whether there are seeds enough for intervals; if not, `command` says so on standard error.
bool HasSeedsEnough(const char* command, const Experiment& experiment);

// Runs every arm on every seed and shows progress on a terminal. Sorted by seed, then arm. In real
// time arms take turns: every other seed has them in reverse, so that what the machine does
// meanwhile hits none of them more than another.
std::vector<RunResult> RunAll(const Experiment& experiment, bool quiet);
// The same for some seeds, which need not be the experiment's.
std::vector<RunResult> RunSeeds(const Experiment& experiment, const std::vector<uint64_t>& seeds,
                                bool quiet);

// Writes what was asked for: JSON, CSV, HTML, a time line. kExitOk or what went wrong.
int WriteOutputs(const ExperimentOptions& options, const Experiment& experiment,
                 const std::vector<RunResult>& results, const AbResult* ab,
                 const League* league = nullptr);

// What must be known beside the figures: a busy machine, warnings, broken conservation laws.
void PrintRemarks(const std::vector<RunResult>& results);

// kExitFailed if a run did not finish or broke a conservation law.
int ExitCodeOf(const std::vector<RunResult>& results);

}  // namespace weir
