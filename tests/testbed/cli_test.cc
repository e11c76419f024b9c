// The `weir` program as a user meets it: output, exit codes, errors with place and remedy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/run_weir.h"
#include "tests/support/temp_folder.h"

namespace weir {
namespace {

using testing::HasSubstr;

// A quick experiment: 8 hosts, 100 kB each.
const std::string kSmall =
    "run --quiet --topology leaf_spine --set fabric.leaves=2 --set fabric.hosts_per_leaf=4 "
    "--set fabric.spines=4 --traffic permutation --set traffic.size=100kB ";

TEST(CliTest, ListNamesEveryKindWithItsSignals) {
  const Outcome all = Weir("list");
  EXPECT_EQ(all.exit_code, 0);
  for (const char* name : {"nscc", "dcqcn", "mark echo", "reps", "oblivious", "incast",
                           "ring_all_reduce", "leaf_spine", "fat_tree"}) {
    EXPECT_THAT(all.text, HasSubstr(name));
  }
  EXPECT_THAT(Weir("list lb").text, testing::Not(HasSubstr("dcqcn")));
}

TEST(CliTest, ShowGivesUnitDefaultRangeAndSource) {
  const Outcome shown = Weir("show cc nscc");
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_THAT(shown.text, HasSubstr("gamma = 0.8    [0.01 .. 1]"));
  EXPECT_THAT(shown.text, HasSubstr("default from:"));
}

TEST(CliTest, RunPrintsATableAndTheSameAsJson) {
  const TempFolder folder;
  const std::string file = folder / "run.json";
  const Outcome run = Weir(kSmall + "--cc nscc --lb reps --json " + file);
  ASSERT_EQ(run.exit_code, 0) << run.text;
  for (const char* row : {"completion mean", "median", "p99", "last / ideal", "goodput", "fairness",
                          "retransmissions", "spurious", "trims", "marks", "drops", "peak queue",
                          "link load max/mean", "digest"}) {
    EXPECT_THAT(run.text, HasSubstr(row));
  }
  const nlohmann::json document = nlohmann::json::parse(Content(file));
  EXPECT_EQ(document["schema"], "weir.result/1");
  const auto& result = document["results"][0];
  EXPECT_THAT(run.text, HasSubstr(result["digest"].get<std::string>()));
  EXPECT_EQ(result["transfers"].size(), 8u);
  EXPECT_EQ(result["finished"], true);
  EXPECT_EQ(document["experiment"]["arms"][0]["cc_params"]["gamma"], "0.8");
}

TEST(CliTest, TheSameSeedGivesTheSameDigestAndAnotherSeedAnother) {
  const auto digest = [](const std::string& text) { return text.substr(text.rfind("digest")); };
  const std::string one = digest(Weir(kSmall + "--seed 7").text);
  EXPECT_EQ(one, digest(Weir(kSmall + "--seed 7").text));
  EXPECT_NE(one, digest(Weir(kSmall + "--seed 8").text));
}

TEST(CliTest, AbSaysNoDifferenceShownForTwoArmsThatAreTheSame) {
  const Outcome ab = Weir(
      "ab --quiet --set fabric.leaves=2 --set fabric.hosts_per_leaf=4 --set fabric.spines=4 "
      "--set traffic.size=100kB --traffic permutation --cc nscc,nscc --lb reps "
      "--set arms.1.name=again --set run.seeds=5");
  EXPECT_EQ(ab.exit_code, 0) << ab.text;
  EXPECT_THAT(ab.text, HasSubstr("no difference shown"));
  EXPECT_THAT(ab.text, testing::Not(HasSubstr("better")));
  EXPECT_THAT(ab.text, testing::Not(HasSubstr("worse")));
}

TEST(CliTest, AbAddsSeedsUntilItIsDecidedOrThereAreNoMore) {
  const std::string small =
      "ab --quiet --set fabric.leaves=2 --set fabric.hosts_per_leaf=4 --set fabric.spines=4 "
      "--set traffic.size=100kB --traffic permutation --cc none,none --lb oblivious "
      "--set arms.1.name=other --set arms.1.salt=1 --until-decided --max-seeds 20 ";
  // The same arm twice: all 20 seeds, and the last look spends what is left of 5 %.
  const Outcome same = Weir(small);
  EXPECT_EQ(same.exit_code, 0) << same.text;
  EXPECT_THAT(same.text, HasSubstr("paired over 20 seeds"));
  EXPECT_THAT(same.text, HasSubstr("other against none/oblivious: no difference shown"));
  // Paced at half the rate: the first look, at five seeds, is enough.
  const Outcome slow = Weir(small + "--set arms.1.cc_params.rate=50Gbps");
  EXPECT_THAT(slow.text, HasSubstr("paired over 5 seeds"));
  EXPECT_THAT(slow.text, HasSubstr("other against none/oblivious: worse"));
}

struct Refusal {
  const char* name;
  const char* arguments;
  const char* message;
};
class CliRefuses : public testing::TestWithParam<Refusal> {};

TEST_P(CliRefuses, WithExitCodeTwoAndAReason) {
  const Outcome outcome = Weir(GetParam().arguments);
  EXPECT_EQ(outcome.exit_code, 2) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Refusals, CliRefuses,
    testing::Values(
        Refusal{"UnknownKey", "run testbed/experiments/demo.toml --set fabric.rat=1",
                "did you mean \"rate\"?"},
        Refusal{"MissingUnit", "run testbed/experiments/demo.toml --set traffic.size=1000",
                "must be a string with a unit"},
        Refusal{"WrongUnit", "run testbed/experiments/demo.toml --set fabric.delay=3KiB",
                "unknown unit"},
        Refusal{"MissingFile", "run nowhere.toml", "no such file"},
        Refusal{"MissingMatrix", "run --traffic nowhere.cm", "no such file"},
        Refusal{"UnknownAlgorithm", "run --cc bogus", "choose one of none"},
        Refusal{"UnknownParameter", "run --cc nscc --set arms.0.cc_params.gama=1",
                "did you mean \"gamma\"?"},
        Refusal{"ParameterOutOfRange", "run --cc nscc --set arms.0.cc_params.gamma=7", "gamma"},
        Refusal{"MissingSignal", "run --cc dctcp --set fabric.marking=false", "needs mark echo"},
        Refusal{"TooManySenders", "run --traffic incast --set traffic.senders=128",
                "needs more than the 128 hosts"},
        Refusal{"FileAndShortForm", "run testbed/experiments/demo.toml --cc nscc",
                "exclude each other"},
        Refusal{"OneArm", "ab --cc nscc --lb reps --set run.seeds=5", "has one arm"},
        Refusal{"TooFewSeeds", "ab --cc nscc,none", "too few"},
        Refusal{"SeedsWithoutGrowth", "ab --cc nscc,none --max-seeds 50", "--until-decided"},
        Refusal{"SampleFlow", "run --cc nscc --set run.sample_every=1us --set run.sample_flow=3-",
                "must be FROM-TO"},
        Refusal{"SampleFlowAlone", "run --cc nscc --set run.sample_flow=3-4",
                "without sample_every"},
        Refusal{"NoSubcommand", "", "subcommand is required"}),
    [](const testing::TestParamInfo<Refusal>& test) { return std::string(test.param.name); });

TEST(CliTest, AnErrorInAFileNamesItsLine) {
  const TempFolder folder;
  const std::string file = folder.Write(
      "bad.toml", "[fabric]\ntopology = \"leaf_spine\"\nspeed = \"1Gbps\"\n[[arms]]\n");
  const Outcome outcome = Weir("run " + file);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.text, HasSubstr("bad.toml:3:"));
}

TEST(CliTest, ATransferThatCannotFinishIsAFailureNotASilence) {
  const Outcome outcome = Weir(kSmall + "--set run.time_limit=5us");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.text, HasSubstr("did not finish within the time limit"));
}

TEST(CliTest, SprayingAnAlgorithmOfOnePathIsRefusedAndMessagesOnAPathAreNot) {
  const std::string hpcc = kSmall + "--set fabric.telemetry=true --cc hpcc --lb oblivious ";
  const Outcome refused = Weir(hpcc);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.text, HasSubstr("hpcc does not go with oblivious, because it compares"));
  const Outcome together = Weir(hpcc + "--set arms.0.lb_params.unit=message");
  EXPECT_EQ(together.exit_code, 0) << together.text;
}

TEST(CliTest, ALeagueOfAllAlgorithmsHasTheBaselineAndSaysWhoIsLeftOut) {
  const std::string small =
      "--quiet --topology leaf_spine --set fabric.leaves=2 --set fabric.hosts_per_leaf=4 "
      "--set fabric.spines=4 --traffic permutation --set traffic.size=100kB --set run.seeds=3 ";
  const Outcome all =
      Weir("league --cc all " + small + "--lb oblivious --set fabric.marking=false");
  EXPECT_EQ(all.exit_code, 0) << all.text;
  EXPECT_THAT(all.text, HasSubstr("left out: dctcp with oblivious needs mark echo"));
  EXPECT_THAT(all.text, HasSubstr("none/oblivious"));
  EXPECT_THAT(all.text, HasSubstr("means over 3 seeds"));
  const Outcome few = Weir("league --cc nscc " + small + "--seed 1");
  EXPECT_EQ(few.exit_code, 2);
  EXPECT_THAT(few.text, HasSubstr("at least three"));
}

}  // namespace
}  // namespace weir
