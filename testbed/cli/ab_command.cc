// weir ab: arms against each other on the same seeds.
#include <cstdio>
#include <memory>

#include "testbed/cli/commands.h"
#include "testbed/cli/experiment_options.h"
#include "testbed/experiment/report.h"

namespace weir {
namespace {

int Compare(const ExperimentOptions& options) {
  const absl::StatusOr<Experiment> experiment = MakeExperiment(options);
  if (!experiment.ok()) {
    std::fprintf(stderr, "weir ab: %s\n", std::string(experiment.status().message()).c_str());
    return kExitUsage;
  }
  if (experiment->arms.size() < 2) {
    std::fprintf(stderr, "weir ab: %s has one arm; add another [[arms]] to compare with\n",
                 experiment->source.c_str());
    return kExitUsage;
  }
  if (experiment->seeds.size() < 3) {
    std::fprintf(stderr,
                 "weir ab: %zu seeds are too few for an interval; use at least three, better ten "
                 "([run] seeds = 10)\n",
                 experiment->seeds.size());
    return kExitUsage;
  }
  const bool json_only = options.json == "-";
  if (!options.quiet && !json_only) std::printf("%s\n", EffectiveConfig(*experiment).c_str());
  const std::vector<RunResult> results = RunAll(*experiment, options.quiet);
  const AbResult ab = CompareArms(*experiment, results);
  if (!json_only) {
    PrintRemarks(results);
    std::printf("%s", AbTable(ab).c_str());
  }
  const int written = WriteJson(options, *experiment, results, &ab);
  return written != kExitOk ? written : ExitCodeOf(results);
}

}  // namespace

void AddAbCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExperimentOptions>();
  auto* command = app.add_subcommand("ab", "Compare the arms of an experiment, paired by seed");
  AddExperimentOptions(*command, *options);
  command->footer(
      "Examples:\n"
      "  weir ab testbed/experiments/demo.toml\n"
      "  weir ab --traffic incast --cc none,nscc,rccc --lb reps --set run.seeds=10");
  command->callback([options, &exit_code] { exit_code = Compare(*options); });
}

}  // namespace weir
