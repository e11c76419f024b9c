// The same experiment in virtual time and in the loopback testbed: both must tell the same story.
// docs/validation.md has how far they differ, and why.
#ifdef WEIR_HAS_DPDK

#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "testbed/experiment/experiment.h"
#include "testbed/experiment/runner.h"

namespace weir {
namespace {

struct Scenario {
  const char* name;
  const char* text;
};
constexpr Scenario kIncast = {
    "Incast",
    "[fabric]\ntopology = \"single_bottleneck\"\nsenders = 4\nrate = \"100Gbps\"\n"
    "[traffic]\ntype = \"incast\"\nsenders = 4\nreceiver = 4\nsize = \"300kB\"\n"};
constexpr Scenario kPermutation = {
    "Permutation",
    "[fabric]\ntopology = \"leaf_spine\"\nleaves = 2\nhosts_per_leaf = 4\nspines = 4\n"
    "rate = \"100Gbps\"\n[traffic]\ntype = \"permutation\"\nsize = \"1MB\"\n"};

struct Case {
  Scenario scenario;
  const char* cc;
  const char* lb;
};

// The same seed in both: the same permutation, the same hashes of switches and paths.
constexpr const char* kSeed = "run.seeds=[3]";

RunResult RunIn(const Case& c, const std::vector<std::string>& sets) {
  const std::string text =
      absl::StrFormat("%s[[arms]]\ncc = \"%s\"\nlb = \"%s\"\n", c.scenario.text, c.cc, c.lb);
  std::vector<std::string> all = {kSeed, "run.time_limit=10ms"};
  all.insert(all.end(), sets.begin(), sets.end());
  const absl::StatusOr<Experiment> e = ParseExperiment(text, "twin", all);
  EXPECT_TRUE(e.ok()) << e.status();
  RunResult result = RunArm(*e, e->arms[0], e->seeds[0]);
  EXPECT_TRUE(result.finished);
  for (const std::string& breach : result.breaches) ADD_FAILURE() << breach;
  return result;
}

// As fast as the machine should manage; slower if it does not.
RunResult RunInRealTime(const Case& c) {
  RunResult result = RunIn(c, {"run.home=loopback"});
  for (int i = 0; i < 2 && !result.real_time->too_busy.empty(); ++i) {
    const double slower = result.real_time->time_scale / 4;
    result = RunIn(c, {"run.home=loopback", absl::StrFormat("run.time_scale=%g", slower)});
  }
  return result;
}

class TwinTest : public testing::TestWithParam<Case> {};

TEST_P(TwinTest, FinishAboutAtTheSameTime) {
  const RunResult model = RunIn(GetParam(), {});
  const RunResult real = RunInRealTime(GetParam());
  if (!real.real_time->too_busy.empty()) GTEST_SKIP() << real.real_time->too_busy;
  const double last = Ratio(real.makespan, model.makespan);
  const double mean = real.completion.mean / model.completion.mean;
  const std::string what = absl::StrFormat("last %.3f, mean %.3f of virtual time's, at scale %g",
                                           last, mean, real.real_time->time_scale);
  RecordProperty("ratio", what);
  EXPECT_GT(last, 0.7) << what;
  EXPECT_LT(last, 1.6) << what;
  EXPECT_GT(mean, 0.7) << what;
  EXPECT_LT(mean, 1.5) << what;
  // Each byte counts once in both.
  EXPECT_EQ(real.counters.data_bytes_received, model.counters.data_bytes_received);
  EXPECT_EQ(real.base_rtt, model.base_rtt);
}

INSTANTIATE_TEST_SUITE_P(
    Scenarios, TwinTest,
    testing::Values(Case{kIncast, "nscc", "oblivious"}, Case{kIncast, "dcqcn", "ecmp"},
                    Case{kIncast, "rccc", "oblivious"}, Case{kPermutation, "nscc", "reps"},
                    Case{kPermutation, "rccc", "oblivious"}),
    [](const auto& param) {
      return absl::StrFormat("%s_%s_%s", param.param.scenario.name, param.param.cc, param.param.lb);
    });

}  // namespace
}  // namespace weir

#endif  // WEIR_HAS_DPDK
