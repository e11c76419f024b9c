// weir league: many arms on one scenario, ranked.
#include <cstdio>
#include <memory>

#include "absl/strings/str_format.h"
#include "cc_algos/registry.h"
#include "lb_policies/registry.h"
#include "testbed/cli/commands.h"
#include "testbed/cli/experiment_options.h"
#include "testbed/cli/failure.h"
#include "testbed/experiment/report.h"

namespace weir {
namespace {

// Every policy of the registry, with the algorithm of the first arm.
void EnrolPolicies(Experiment& experiment) {
  const Arm sample = experiment.arms.front();
  experiment.arms.clear();
  for (const LbEntry& lb : AllLb()) {
    Arm arm{absl::StrFormat("%s/%s", sample.binding.cc->name, lb.name), sample.binding};
    arm.binding.lb = &lb;
    arm.binding.lb_config = lb.defaults();
    experiment.arms.push_back(arm);
  }
}

// Every algorithm of the registry, each with the first of the arms' policies that goes with it, or
// with all of them.
void EnrolAlgorithms(Experiment& experiment, bool all_policies) {
  const std::vector<Arm> samples = experiment.arms;
  experiment.arms.clear();
  for (const CcEntry& cc : AllCc()) {
    for (const Arm& sample : samples) {
      Arm arm{absl::StrFormat("%s/%s", cc.name, sample.binding.lb->name), sample.binding};
      arm.binding.cc = &cc;
      arm.binding.cc_config = cc.defaults();
      experiment.arms.push_back(arm);
      if (!all_policies && WhyUnfit(arm.binding, experiment).empty()) break;
    }
  }
}

// Takes out what cannot play on this fabric, and says so.
void LeaveOutUnfit(Experiment& experiment) {
  std::erase_if(experiment.arms, [&](const Arm& arm) {
    const std::string why = WhyUnfit(arm.binding, experiment);
    if (!why.empty()) std::fprintf(stderr, "left out: %s\n", why.c_str());
    return !why.empty();
  });
}

// The baseline that every league has.
void EnrolNone(Experiment& experiment) {
  const CcEntry* none = FindCc("none");
  for (const Arm& arm : experiment.arms) {
    if (arm.binding.cc == none) return;
  }
  Arm arm = experiment.arms.front();
  arm.binding.cc = none;
  arm.binding.cc_config = none->defaults();
  arm.name = absl::StrFormat("none/%s", arm.binding.lb->name);
  experiment.arms.insert(experiment.arms.begin(), arm);
}

int Play(ExperimentOptions options) {
  const bool all_cc = options.cc == "all";
  const bool all_lb = options.lb == "all";
  if (all_cc) options.cc = "none";
  if (all_lb) options.lb = "ecmp";
  absl::StatusOr<Experiment> experiment = MakeExperiment(options);
  if (!experiment.ok()) return Fail("league", experiment.status(), kExitUsage);
  if (!HasSeedsEnough("league", *experiment)) return kExitUsage;
  if (all_lb) EnrolPolicies(*experiment);
  if (all_cc) EnrolAlgorithms(*experiment, all_lb);
  if (all_cc || all_lb) LeaveOutUnfit(*experiment);
  if (experiment->arms.empty()) {
    std::fprintf(stderr, "weir league: nothing is left to play; choose another policy or fabric\n");
    return kExitUsage;
  }
  EnrolNone(*experiment);
  const bool json_only = options.json == "-";
  if (!options.quiet && !json_only) std::printf("%s\n", EffectiveConfig(*experiment).c_str());
  const std::vector<RunResult> results = RunAll(*experiment, options.quiet);
  const League league = MakeLeague(*experiment, results);
  if (!json_only) {
    PrintRemarks(results);
    std::printf("%s", LeagueTable(league).c_str());
  }
  return WriteOutputs(options, *experiment, results, nullptr, &league);
}

}  // namespace

void AddLeagueCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExperimentOptions>();
  auto* command = app.add_subcommand(
      "league", "Rank many arms on one scenario; `none` always plays, as the baseline");
  AddExperimentOptions(*command, *options);
  command->footer(
      "--cc all and --lb all stand for everything that there is. With --cc all and several "
      "policies, each algorithm takes the first that goes with it. An arm that does not finish is "
      "shown, not ranked.\n"
      "Examples:\n"
      "  weir league --traffic incast --cc all --lb oblivious,ecmp --set run.seeds=5\n"
      "  weir league --cc nscc --lb all --set run.seeds=5 --set fabric.queue_limit=0.25bdp");
  command->callback([options, &exit_code] { exit_code = Play(*options); });
}

}  // namespace weir
