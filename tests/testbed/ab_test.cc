// What `weir ab` says: nothing where there is nothing, what was planted, and no verdict where none
// is possible.
#include "testbed/experiment/ab.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_format.h"
#include "datapath/api/rng.h"
#include "testbed/experiment/metrics.h"
#include "testbed/experiment/report.h"
#include "testbed/experiment/runner.h"

namespace weir {
namespace {

using testing::HasSubstr;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kRepetitions = 17;  // of which 6 % is one
#else
constexpr int kRepetitions = 100;
#endif
constexpr int kShownAtMost = (kRepetitions * 6 + 50) / 100;

const std::string kFabric =
    "[fabric]\nleaves = 2\nhosts_per_leaf = 4\nspines = 4\nrate = \"100Gbps\"\n";

AbResult RunAb(const std::string& text, const std::vector<std::string>& sets = {}) {
  const absl::StatusOr<Experiment> e = ParseExperiment(text, "test", sets);
  EXPECT_TRUE(e.ok()) << e.status().message();
  if (!e.ok()) return {};
  std::vector<RunResult> results;
  for (const uint64_t seed : e->seeds) {
    for (const Arm& arm : e->arms) results.push_back(RunArm(*e, arm, seed));
  }
  return CompareArms(*e, results);
}

std::string Seeds(int first, int count) {
  std::string list;
  for (int i = 0; i < count; ++i) list += absl::StrFormat("%s%d", i == 0 ? "" : ",", first + i);
  return "run.seeds=[" + list + "]";
}

// Two arms that differ in nothing but the random choices of switches. Any shown difference, of any
// figure, is an error.
TEST(AbTest, AnAAExperimentShowsNoDifferenceIn94Of100Repetitions) {
  const std::string text = kFabric +
                           "[traffic]\nsize = \"64kB\"\n"
                           "[[arms]]\nname = \"a\"\ncc = \"dctcp\"\nlb = \"ecmp\"\n"
                           "[[arms]]\nname = \"b\"\ncc = \"dctcp\"\nlb = \"ecmp\"\nsalt = 1\n";
  int shown = 0;
  int differing = 0;
  for (int i = 0; i < kRepetitions; ++i) {
    const AbResult ab = RunAb(text, {Seeds(1 + 5 * i, 5)});
    shown += std::ranges::any_of(ab.differences,
                                 [](const AbDifference& d) { return d.difference.shown; });
    differing += ab.differences.front().difference.difference != 0 ? 1 : 0;
  }
  EXPECT_LE(shown, kShownAtMost);
  EXPECT_GE(differing, kRepetitions * 9 / 10);  // the arms are not the same runs
}

// Arm b is paced at 98 % of arm a's rate; the random choices of both differ.
TEST(AbTest, APlantedShiftOfTwoPercentIsFound) {
  const AbResult ab =
      RunAb(kFabric +
                "[traffic]\nsize = \"1MB\"\n"
                "[[arms]]\nname = \"a\"\ncc = \"none\"\nlb = \"oblivious\"\n"
                "cc_params = { rate = \"50Gbps\" }\n"
                "[[arms]]\nname = \"b\"\ncc = \"none\"\nlb = \"oblivious\"\nsalt = 1\n"
                "cc_params = { rate = \"49Gbps\" }\n",
            {Seeds(1, 10)});
  ASSERT_EQ(ab.verdicts.size(), 1u);
  EXPECT_EQ(ab.verdicts[0].word, "worse") << AbTable(ab);
  const auto mean =
      std::ranges::find(ab.differences, std::string("mean completion"), &AbDifference::metric);
  EXPECT_TRUE(mean->worse());
  EXPECT_NEAR(mean->relative, 0.02, 0.005);
}

TEST(AbTest, APlantedDifferenceIsShownWithItsSign) {
  const AbResult ab = RunAb(kFabric +
                            "[traffic]\nsize = \"200kB\"\n[run]\nseeds = 5\n"
                            "[[arms]]\ncc = \"nscc\"\nlb = \"reps\"\n"
                            "[[arms]]\nname = \"half\"\ncc = \"none\"\nlb = \"reps\"\n"
                            "cc_params = { window = \"50kB\" }\n");  // about half a BDP
  ASSERT_EQ(ab.differences.front().metric, "last completion");
  EXPECT_TRUE(ab.differences.front().worse());
  EXPECT_GT(ab.differences.front().difference.low, 0);  // slower
  EXPECT_TRUE(Decided(ab));
}

// Runs as a test makes them up: `factor` times 10 us for 10 kB and 100 us for 1 MB, with 1 % noise.
std::vector<RunResult> MadeUp(size_t seeds, double small_factor, double large_factor) {
  std::vector<RunResult> results;
  Rng rng(3);
  for (size_t seed = 1; seed <= seeds; ++seed) {
    for (const bool other : {false, true}) {
      RunResult r{.arm = other ? "b" : "a", .seed = seed, .finished = true};
      for (int i = 0; i < 100; ++i) {
        const bool large = i % 2 == 0;
        const double factor = !other ? 1 : large ? large_factor : small_factor;
        const double ns = (large ? 100'000 : 10'000) * factor * (1 + 0.01 * rng.Unit());
        r.transfers.push_back({.size = large ? Bytes(1'000'000) : Bytes(10'000),
                               .sent = Duration(static_cast<int64_t>(ns)),
                               .received = Duration(static_cast<int64_t>(ns)),
                               .ideal = Nanos(1000)});
        r.makespan = std::max(r.makespan, r.transfers.back().sent);
      }
      results.push_back(r);
    }
  }
  return results;
}

AbResult CompareMadeUp(const std::vector<RunResult>& results, size_t seeds) {
  Experiment e;
  e.arms = {{.name = "a"}, {.name = "b"}};
  e.seeds.clear();
  for (size_t s = 1; s <= seeds; ++s) e.seeds.push_back(s);
  return CompareArms(e, results);
}

TEST(AbTest, ARegressionAtOneSizeIsShownThoughTheMeanImproves) {
  const AbResult ab = CompareMadeUp(MadeUp(6, 1.03, 0.8), 6);
  const auto of = [&](const std::string& metric) {
    return *std::ranges::find(ab.differences, metric, &AbDifference::metric);
  };
  EXPECT_TRUE(of("mean completion").better());
  EXPECT_TRUE(of("mean completion, 10.0 kB").worse());
  EXPECT_TRUE(of("p99 completion, 10.0 kB").worse());
  EXPECT_TRUE(of("mean completion, 1.00 MB").better());
  EXPECT_EQ(ab.verdicts[0].word, "mixed");
  EXPECT_THAT(ab.verdicts[0].text, HasSubstr("WORSE: mean completion, 10.0 kB +3.0"));
}

// The same results: small messages 3 % slower and large ones 20 % faster, or only the former.
TEST(AbTest, WhatIsShownWithinTheToleranceMakesNoArmWorse) {
  const auto verdict = [](double large, double tolerance) {
    AbResult ab = Differences({"a", "b"}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, MadeUp(10, 1.03, large));
    Judge({&ab}, kAlpha, tolerance);
    EXPECT_EQ(ab.tolerance, tolerance);
    return ab.verdicts.at(0);
  };
  EXPECT_EQ(verdict(0.8, 0).word, "mixed");
  EXPECT_EQ(verdict(0.8, 0.05).word, "better");
  EXPECT_EQ(verdict(1, 0).word, "worse");
  const AbVerdict small = verdict(1, 0.05);
  EXPECT_EQ(small.word, "within tolerance");
  EXPECT_THAT(small.text, testing::HasSubstr("shown, and no more than 5 %"));
  EXPECT_EQ(verdict(1, 0.01).word, "worse");
}

TEST(AbTest, FewerSeedsThanFiveGiveNoVerdictAndFiveDo) {
  const AbResult four = CompareMadeUp(MadeUp(4, 0.5, 0.5), 4);
  EXPECT_EQ(four.verdicts[0].word, kNoVerdict);
  EXPECT_THAT(four.verdicts[0].text, HasSubstr("4 seeds; at least 5 are needed"));
  EXPECT_FALSE(four.differences[0].difference.shown);
  EXPECT_EQ(CompareMadeUp(MadeUp(5, 0.5, 0.5), 5).verdicts[0].word, "better");
}

TEST(AbTest, ABusyMachineGivesNoVerdictAnywhere) {
  std::vector<RunResult> results = MadeUp(6, 0.5, 0.5);
  results[3].real_time = RealTimeStats{.too_busy = "it stood still"};
  const AbResult ab = CompareMadeUp(results, 6);
  EXPECT_EQ(ab.verdicts[0].word, kNoVerdict);
  EXPECT_THAT(VerdictText(ab), HasSubstr("in 1 runs the machine was too busy"));
  EXPECT_THAT(AbTable(ab), testing::Not(HasSubstr("better")));
}

TEST(AbTest, AnArmThatDoesNotFinishIsNotCalledBetter) {
  std::vector<RunResult> results = MadeUp(6, 0.5, 0.5);
  results[3].finished = false;
  const AbResult ab = CompareMadeUp(results, 6);
  EXPECT_EQ(ab.verdicts[0].word, kNoVerdict);
  EXPECT_THAT(ab.verdicts[0].text, HasSubstr("1 of 6 runs of b did not finish"));
}

TEST(AbTest, ComparisonsOfSeveralExperimentsAreCorrectedTogether) {
  AbResult one = Differences({"a", "b"}, {1, 2, 3, 4, 5, 6}, MadeUp(6, 1.001, 1.001));
  AbResult same = one;
  Judge({&one}, kAlpha);
  AbResult again = same;
  Judge({&same, &again}, kAlpha);
  EXPECT_EQ(same.comparisons, 2 * one.comparisons);
  for (size_t i = 0; i < one.differences.size(); ++i) {
    EXPECT_GE(same.differences[i].p_adjusted, one.differences[i].p_adjusted);
  }
}

TEST(SizeClassTest, OneSizeHasNoneFewHaveTheirOwnAndManyShareFactorsOfFour) {
  RunResult r;
  const auto classes = [&r](const std::vector<int64_t>& sizes) {
    r.transfers.clear();
    for (const int64_t s : sizes) r.transfers.push_back({.size = Bytes(s)});
    return SizeClassesOf({&r});
  };
  EXPECT_TRUE(classes({5, 5, 5}).empty());
  ASSERT_EQ(classes({7, 5, 7}).size(), 2u);
  EXPECT_EQ(classes({7, 5, 7})[0].high, Bytes(5));
  // 1, 2..4, 5..16, 17..64
  const std::vector<SizeClass> many = classes({1, 2, 3, 4, 5, 16, 17, 20, 64});
  ASSERT_EQ(many.size(), 4u);
  EXPECT_EQ(many[1].low, Bytes(2));
  EXPECT_EQ(many[1].high, Bytes(4));
  EXPECT_EQ(many[2].high, Bytes(16));
  EXPECT_EQ(many[3].name, "17 B to 64 B");
}

}  // namespace
}  // namespace weir
