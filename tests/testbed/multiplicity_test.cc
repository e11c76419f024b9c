// Many comparisons and many looks keep one error rate.
#include "testbed/experiment/multiplicity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "datapath/api/rng.h"
#include "testbed/experiment/statistics.h"

namespace weir {
namespace {

TEST(HolmTest, TheSmallestIsMultipliedMostAndNoneOvertakes) {
  // In order 0.005 x 4, 0.01 x 3, 0.03 x 2, 0.04 x 1 = 0.04, raised to the 0.06 before it.
  const std::vector<double> adjusted = HolmAdjusted({0.01, 0.04, 0.03, 0.005});
  ASSERT_EQ(adjusted.size(), 4u);
  EXPECT_DOUBLE_EQ(adjusted[0], 0.03);
  EXPECT_DOUBLE_EQ(adjusted[1], 0.06);
  EXPECT_DOUBLE_EQ(adjusted[2], 0.06);
  EXPECT_DOUBLE_EQ(adjusted[3], 0.02);
}

TEST(HolmTest, NothingExceedsOneAndNothingIsNothing) {
  EXPECT_EQ(HolmAdjusted({0.7, 0.9}), (std::vector<double>{1, 1}));
  EXPECT_TRUE(HolmAdjusted({}).empty());
}

TEST(LooksTest, DoubleUntilTheMostAndSpendTheWholeAlpha) {
  const std::vector<Look> looks = PlanLooks(5, 50, 0.05);
  std::vector<size_t> seeds;
  double spent = 0;
  for (const Look& look : looks) {
    seeds.push_back(look.seeds);
    EXPECT_GT(look.alpha, 0);
    spent += look.alpha;
  }
  EXPECT_EQ(seeds, (std::vector<size_t>{5, 10, 20, 40, 50}));
  EXPECT_NEAR(spent, 0.05, 1e-12);
  // 0.05 ln(1 + (e - 1) 0.1) = 0.05 x 0.15857
  EXPECT_NEAR(looks[0].alpha, 0.007928, 1e-6);
  EXPECT_EQ(PlanLooks(8, 8, 0.05).size(), 1u);
}

// 2000 experiments without a difference, each looked at until one is shown. A single test at each
// look would show one in about 14 %.
TEST(LooksTest, LookingOftenKeepsTheErrorRate) {
  constexpr int kExperiments = 2000;
  Rng rng(7);
  const std::vector<Look> looks = PlanLooks(5, 80, kAlpha);
  int shown = 0;
  int naive = 0;
  for (int i = 0; i < kExperiments; ++i) {
    std::vector<double> a(80, 0.0);
    std::vector<double> b(80);
    for (double& v : b) {
      v = std::sqrt(-2 * std::log(1 - rng.Unit())) * std::cos(2 * std::numbers::pi * rng.Unit());
    }
    bool here = false;
    bool there = false;
    for (const Look& look : looks) {
      const PairedDifference d = ComparePaired(std::span(a).first(look.seeds), b);
      here |= d.p <= look.alpha;
      there |= d.p <= kAlpha;
    }
    shown += here ? 1 : 0;
    naive += there ? 1 : 0;
  }
  EXPECT_LE(shown, kExperiments * 0.05);
  EXPECT_GE(shown, kExperiments * 0.02);  // and does not give everything away
  EXPECT_GE(naive, kExperiments * 0.10);  // the correction is what keeps it
}

}  // namespace
}  // namespace weir
