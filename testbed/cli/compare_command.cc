// weir compare: two stored results, as distributions.
#include <cstdio>
#include <memory>

#include "absl/strings/str_format.h"
#include "testbed/cli/commands.h"
#include "testbed/cli/failure.h"
#include "testbed/experiment/compare.h"
#include "testbed/experiment/report.h"

namespace weir {
namespace {

struct CompareOptions {
  std::string base;
  std::string fresh;
  double tolerance = 0;  // percent
  bool quiet = false;
};

int Compare(const CompareOptions& o) {
  const absl::StatusOr<StoredResult> base = ReadResult(o.base);
  if (!base.ok()) return Fail("compare", base.status(), kExitUsage);
  const absl::StatusOr<StoredResult> fresh = ReadResult(o.fresh);
  if (!fresh.ok()) return Fail("compare", fresh.status(), kExitUsage);
  const absl::StatusOr<Comparison> comparison = CompareResults(*base, *fresh);
  if (!comparison.ok()) return Fail("compare", comparison.status(), kExitUsage);
  std::printf("%s", ComparisonText(*comparison, o.quiet).c_str());
  const std::vector<std::string> regressions = Regressions(*comparison, o.tolerance / 100);
  for (const std::string& r : regressions) std::printf("REGRESSION: %s\n", r.c_str());
  if (!regressions.empty()) return kExitFailed;
  if (!CanJudge(*comparison)) {
    std::fprintf(stderr, "weir compare: nothing can be judged; see the reasons above\n");
    return kExitUsage;
  }
  std::printf("no regression shown\n");
  return kExitOk;
}

}  // namespace

void AddCompareCommand(CLI::App& app, int& exit_code) {
  auto o = std::make_shared<CompareOptions>();
  auto* command = app.add_subcommand(
      "compare", "Compare two stored results; exit code 1 if the second is shown to be worse");
  command->add_option("base", o->base, "JSON of run, ab or merge")->required();
  command->add_option("new", o->fresh, "JSON of the same experiment, later")->required();
  command
      ->add_option("--tolerance", o->tolerance,
                   "percent by which a figure may get worse without being a regression")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 100.0));
  command->add_flag("--quiet", o->quiet, "only fingerprints that differ, and verdicts");
  command->footer("Example: weir compare base.json new.json --tolerance 0.5");
  command->callback([o, &exit_code] { exit_code = Compare(*o); });
}

}  // namespace weir
