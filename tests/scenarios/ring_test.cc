// Every algorithm over a ring all-reduce, in which nobody contends: each host sends to one other
// and receives from another, in turns that wait for each other. What is held back here is held back
// by the algorithm: stale credit, marks for credit that idle connections hold, a pause taken for a
// loss.
#include <gtest/gtest.h>

#include <string>

#include "cc_algos/registry.h"
#include "testbed/experiment/experiment.h"
#include "testbed/experiment/runner.h"
#include "tests/support/plugin_checks.h"

namespace weir {
namespace {

class RingScenario : public testing::TestWithParam<const CcEntry*> {};

// Those that ask for credit after each short pause pay a round trip a turn, which is a third of it.
TEST_P(RingScenario, NobodyIsHeldBack) {
  const std::string text =
      "[fabric]\nleaves = 2\nhosts_per_leaf = 2\nspines = 2\ntelemetry = true\npath_load = true\n"
      "[traffic]\ntype = \"ring_all_reduce\"\nsize = \"4MB\"\n"
      "[[arms]]\ncc = \"" +
      std::string(GetParam()->name) + "\"\nlb = \"ecmp\"\n";
  const absl::StatusOr<Experiment> e = ParseExperiment(text, "ring", {});
  ASSERT_TRUE(e.ok()) << e.status().message();
  const RunResult r = RunArm(*e, e->arms[0], 1);
  ASSERT_TRUE(r.finished);
  RecordProperty("makespan_over_ideal", std::to_string(Ratio(r.makespan, r.ideal)));
  EXPECT_LT(Ratio(r.makespan, r.ideal), 1.4);
}

INSTANTIATE_TEST_SUITE_P(Registry, RingScenario, testing::ValuesIn(Pointers(AllCc())),
                         EntryName<CcEntry>);

}  // namespace
}  // namespace weir
