// weir run: one experiment, one table.
#include <cstdio>
#include <memory>

#include "testbed/cli/commands.h"
#include "testbed/cli/experiment_options.h"
#include "testbed/experiment/report.h"

namespace weir {
namespace {

int Run(const ExperimentOptions& options) {
  const absl::StatusOr<Experiment> experiment = MakeExperiment(options);
  if (!experiment.ok()) {
    std::fprintf(stderr, "weir run: %s\n", std::string(experiment.status().message()).c_str());
    return kExitUsage;
  }
  const bool json_only = options.json == "-";
  if (!options.quiet && !json_only) std::printf("%s\n", EffectiveConfig(*experiment).c_str());
  const std::vector<RunResult> results = RunAll(*experiment, options.quiet);
  if (!json_only) std::printf("%s", ResultTable(results).c_str());
  const int written = WriteOutputs(options, *experiment, results, nullptr);
  return written != kExitOk ? written : ExitCodeOf(results);
}

}  // namespace

void AddRunCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExperimentOptions>();
  auto* command = app.add_subcommand("run", "Run an experiment and print its results");
  AddExperimentOptions(*command, *options);
  command->footer(
      "Examples:\n"
      "  weir run testbed/experiments/demo.toml\n"
      "  weir run --topology leaf_spine --traffic permutation --cc nscc --lb reps\n"
      "  weir run --topology x.topo --traffic y.cm --cc rccc --lb oblivious --seed 7 --json "
      "r.json");
  command->callback([options, &exit_code] { exit_code = Run(*options); });
}

}  // namespace weir
