// weir ab: arms against each other on the same seeds.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "testbed/cli/commands.h"
#include "testbed/cli/experiment_options.h"
#include "testbed/cli/failure.h"
#include "testbed/experiment/report.h"

namespace weir {
namespace {

struct AbOptions {
  ExperimentOptions experiment;
  bool until_decided = false;
  size_t seeds_most = 100;
  double tolerance = 0;  // percent
};

// The experiment's seeds, at least as many as a verdict needs, and then the numbers after the
// largest of them, `most` together.
std::vector<uint64_t> SeedsUpTo(const Experiment& experiment, size_t most) {
  std::vector<uint64_t> seeds = experiment.seeds;
  uint64_t next = *std::ranges::max_element(seeds);
  while (seeds.size() < most) seeds.push_back(++next);
  return seeds;
}

// Looks at more and more seeds until every arm is decided or there are no more.
AbResult GrowUntilDecided(const AbOptions& options, Experiment& experiment,
                          std::vector<RunResult>& results) {
  const size_t first = std::max(kSeedsToJudge, experiment.seeds.size());
  const size_t most = std::max(first, options.seeds_most);
  const std::vector<uint64_t> all = SeedsUpTo(experiment, most);
  experiment.seeds.clear();
  AbResult ab;
  for (const Look& look : PlanLooks(first, most, kAlpha)) {
    const std::vector<uint64_t> more(
        all.begin() + static_cast<std::ptrdiff_t>(experiment.seeds.size()),
        all.begin() + static_cast<std::ptrdiff_t>(look.seeds));
    for (RunResult& r : RunSeeds(experiment, more, options.experiment.quiet)) {
      results.push_back(std::move(r));
    }
    experiment.seeds.insert(experiment.seeds.end(), more.begin(), more.end());
    ab = CompareArms(experiment, results, look.alpha, options.tolerance / 100);
    ab.seeds_most = most;
    if (Decided(ab)) break;
  }
  return ab;
}

int Compare(const AbOptions& o) {
  const ExperimentOptions& options = o.experiment;
  absl::StatusOr<Experiment> experiment = MakeExperiment(options);
  if (!experiment.ok()) return Fail("ab", experiment.status(), kExitUsage);
  if (experiment->arms.size() < 2) {
    std::fprintf(stderr, "weir ab: %s has one arm; add another [[arms]] to compare with\n",
                 experiment->source.c_str());
    return kExitUsage;
  }
  if (!o.until_decided && !HasSeedsEnough("ab", *experiment)) return kExitUsage;
  const bool json_only = options.json == "-";
  if (!options.quiet && !json_only) std::printf("%s\n", EffectiveConfig(*experiment).c_str());
  std::vector<RunResult> results;
  AbResult ab;
  if (o.until_decided) {
    ab = GrowUntilDecided(o, *experiment, results);
  } else {
    results = RunAll(*experiment, options.quiet);
    ab = CompareArms(*experiment, results, kAlpha, o.tolerance / 100);
  }
  if (!json_only) {
    PrintRemarks(results);
    const std::string machine = MachineText(results);
    if (!machine.empty()) std::printf("%s\n", machine.c_str());
    std::printf("%s", AbTable(ab).c_str());
  }
  const int written = WriteOutputs(options, *experiment, results, &ab);
  return written != kExitOk ? written : ExitCodeOf(results);
}

}  // namespace

void AddAbCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<AbOptions>();
  auto* command = app.add_subcommand("ab", "Compare the arms of an experiment, paired by seed");
  AddExperimentOptions(*command, options->experiment);
  CLI::Option* until = command->add_flag("--until-decided", options->until_decided,
                                         "add seeds until every arm is better or worse");
  command->add_option("--max-seeds", options->seeds_most, "with --until-decided: at most so many")
      ->capture_default_str()
      ->check(CLI::Range(kSeedsToJudge, size_t{100'000}))
      ->needs(until);
  command
      ->add_option("--tolerance", options->tolerance,
                   "percent: a difference that is shown but no larger makes no arm better or worse")
      ->check(CLI::Range(0.0, 100.0));
  command->footer(
      "Examples:\n"
      "  weir ab testbed/experiments/demo.toml\n"
      "  weir ab --traffic incast --cc none,nscc,rccc --lb reps --set run.seeds=10\n"
      "  weir ab testbed/experiments/demo.toml --until-decided --max-seeds 40");
  command->callback([options, &exit_code] { exit_code = Compare(*options); });
}

}  // namespace weir
