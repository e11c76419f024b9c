// weir league: many arms on one scenario, ranked.
#include <cstdio>
#include <memory>

#include "absl/strings/str_format.h"
#include "cc_algos/registry.h"
#include "lb_policies/registry.h"
#include "testbed/cli/commands.h"
#include "testbed/cli/experiment_options.h"
#include "testbed/experiment/report.h"

namespace weir {
namespace {

constexpr size_t kSeedsLeast = 3;

// Arms of everything that there is in place of the one arm of `experiment`, as far as its fabric
// serves them; what is left out is told.
void EnrolAll(Experiment& experiment, bool all_cc, bool all_lb) {
  const Arm sample = experiment.arms.front();
  const Signals have = SignalsOf(experiment.fabric);
  experiment.arms.clear();
  for (const CcEntry& cc : AllCc()) {
    if (!all_cc && &cc != sample.binding.cc) continue;
    for (const LbEntry& lb : AllLb()) {
      if (!all_lb && &lb != sample.binding.lb) continue;
      Arm arm{absl::StrFormat("%s/%s", cc.name, lb.name), sample.binding};
      arm.binding.cc = &cc;
      arm.binding.cc_config = cc.defaults();
      arm.binding.lb = &lb;
      if (all_lb) arm.binding.lb_config = lb.defaults();
      if (arm.binding.mismatch() != nullptr) {
        std::fprintf(stderr, "left out: %s, because %s\n", arm.name.c_str(),
                     arm.binding.mismatch());
        continue;
      }
      const Signals missing = (cc.needs | lb.needs).Without(have);
      if (missing.empty()) {
        experiment.arms.push_back(arm);
        continue;
      }
      std::string names;
      for (const Signal s : kAllSignals) {
        if (missing.Has(s)) names += (names.empty() ? "" : ", ") + std::string(Name(s));
      }
      std::fprintf(stderr, "left out: %s needs %s, which this fabric does not give\n",
                   arm.name.c_str(), names.c_str());
    }
  }
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
  if (!experiment.ok()) {
    std::fprintf(stderr, "weir league: %s\n", std::string(experiment.status().message()).c_str());
    return kExitUsage;
  }
  if (experiment->seeds.size() < kSeedsLeast) {
    std::fprintf(stderr,
                 "weir league: %zu seeds are too few for an interval; use at least three, better "
                 "ten ([run] seeds = 10, or --set run.seeds=10)\n",
                 experiment->seeds.size());
    return kExitUsage;
  }
  if (all_cc || all_lb) EnrolAll(*experiment, all_cc, all_lb);
  EnrolNone(*experiment);
  const bool json_only = options.json == "-";
  if (!options.quiet && !json_only) std::printf("%s\n", EffectiveConfig(*experiment).c_str());
  const std::vector<RunResult> results = RunAll(*experiment, options.quiet);
  const League league = MakeLeague(*experiment, results);
  if (!json_only) {
    PrintRemarks(results);
    std::printf("%s", LeagueTable(league).c_str());
  }
  return WriteJson(options, *experiment, results, nullptr, &league);
}

}  // namespace

void AddLeagueCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExperimentOptions>();
  auto* command = app.add_subcommand(
      "league", "Rank many arms on one scenario; `none` always plays, as the baseline");
  AddExperimentOptions(*command, *options);
  command->footer(
      "--cc all and --lb all stand for everything that there is. An arm that does not finish is "
      "shown, not ranked.\n"
      "Examples:\n"
      "  weir league --traffic incast --cc all --lb oblivious --set run.seeds=5\n"
      "  weir league --cc nscc --lb all --set run.seeds=5 --set fabric.queue_limit=0.25bdp");
  command->callback([options, &exit_code] { exit_code = Play(*options); });
}

}  // namespace weir
