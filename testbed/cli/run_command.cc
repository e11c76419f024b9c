// weir run: one experiment, one table.
#include <cstdio>
#include <memory>

#include "absl/strings/str_format.h"
#include "testbed/cli/commands.h"
#include "testbed/cli/experiment_options.h"
#include "testbed/cli/failure.h"
#include "testbed/experiment/measure_operations.h"
#include "testbed/experiment/report.h"

namespace weir {
namespace {

struct RunOptions : ExperimentOptions {
  std::string format = "table";
};

std::string TextOf(const std::string& format, const std::vector<RunResult>& results) {
  if (format == "table") return ResultTable(results);
  std::string out;
  for (const RunResult& r : results) {
    out += absl::StrFormat("# %s, seed %d\n", r.arm, r.seed) + NcclTestsText(r.operations);
  }
  return out;
}

int Run(const RunOptions& options) {
  const absl::StatusOr<Experiment> experiment = MakeExperiment(options);
  if (!experiment.ok()) return Fail("run", experiment.status(), kExitUsage);
  const bool json_only = options.json == "-";
  if (options.format == "nccl-tests" && experiment->traffic.kind != TrafficKind::kJobs) {
    std::fprintf(stderr,
                 "weir run: --format nccl-tests needs collectives; this traffic has none\n");
    return kExitUsage;
  }
  if (!options.quiet && !json_only && options.format == "table")
    std::printf("%s\n", EffectiveConfig(*experiment).c_str());
  const std::vector<RunResult> results = RunAll(*experiment, options.quiet);
  if (!json_only) std::printf("%s", TextOf(options.format, results).c_str());
  const int written = WriteOutputs(options, *experiment, results, nullptr);
  return written != kExitOk ? written : ExitCodeOf(results);
}

}  // namespace

void AddRunCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  auto* command = app.add_subcommand("run", "Run an experiment and print its results");
  AddExperimentOptions(*command, *options);
  command->add_option("--format", options->format, "table, or nccl-tests for its columns")
      ->check(CLI::IsMember({"table", "nccl-tests"}));
  command->footer(
      "Examples:\n"
      "  weir run testbed/experiments/demo.toml\n"
      "  weir run --topology leaf_spine --traffic permutation --cc nscc --lb reps\n"
      "  weir run --topology x.topo --traffic y.cm --cc rccc --lb oblivious --seed 7 --json "
      "r.json");
  command->callback([options, &exit_code] { exit_code = Run(*options); });
}

}  // namespace weir
