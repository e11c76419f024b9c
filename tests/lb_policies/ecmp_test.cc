#include "lb_policies/ecmp.h"

#include <gtest/gtest.h>

#include "tests/lb_policies/lb_support.h"

namespace weir {
namespace {

// T-ECMP-1: chi-square with 15 degrees of freedom, 99.9th percentile 37.7.
TEST(EcmpTest, PathsAreDrawnUniformly) {
  constexpr int kPaths = 16;
  constexpr int kDraws = 65'536;
  std::vector<int> count(kPaths);
  for (uint64_t seed = 0; seed < kDraws; ++seed) {
    ++count[Ecmp(TestLb(kPaths, seed), {}).PickPath({})];
  }
  double chi_square = 0;
  constexpr double kExpected = 1.0 * kDraws / kPaths;
  for (const int n : count) chi_square += (n - kExpected) * (n - kExpected) / kExpected;
  EXPECT_LT(chi_square, 37.7);
}

// T-ECMP-2: uniform placement of 16 on 16; busy tends to 1 - 1/e.
// LB-19.1
TEST(EcmpTest, SixteenFlowsOnSixteenLinksCollide) {
  constexpr int kSeeds = 1000;
  double sum_of_max = 0;
  double sum_of_busy = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    std::vector<int> load(16);
    for (uint64_t flow = 0; flow < 16; ++flow) {
      ++load[Ecmp(TestLb(16, seed * 16 + flow), {}).PickPath({})];
    }
    sum_of_max += *std::max_element(load.begin(), load.end());
    sum_of_busy += 1 - static_cast<double>(std::count(load.begin(), load.end(), 0)) / 16;
  }
  EXPECT_NEAR(sum_of_max / kSeeds, 3.07, 0.1);
  EXPECT_NEAR(sum_of_busy / kSeeds, 0.64, 0.02);
}

// T-ECMP-3
TEST(EcmpTest, AConnectionKeepsItsPath) {
  Ecmp lb(TestLb(1024), {});
  const PathId path = lb.PickPath({});
  for (const PathId next : Pick(lb, 1000)) EXPECT_EQ(next, path);
  lb.OnFeedback({.path = path, .event = PathEvent::kTimeout});
  EXPECT_EQ(lb.PickPath({}), path);
}

TEST(EcmpTest, ATimeoutOfItsPathDrawsAnotherIfAsked) {
  Ecmp lb(TestLb(1024), {.redraw_on_timeout = true});
  const PathId path = lb.PickPath({});
  for (const PathEvent event : {PathEvent::kGood, PathEvent::kMarked, PathEvent::kTrimmed,
                                PathEvent::kTrimmedLastHop, PathEvent::kLost}) {
    lb.OnFeedback({.path = path, .event = event});
    EXPECT_EQ(lb.PickPath({}), path);
  }
  lb.OnFeedback({.path = path, .event = PathEvent::kTimeout});
  const PathId next = lb.PickPath({});
  EXPECT_NE(next, path);
  lb.OnFeedback({.path = path, .event = PathEvent::kTimeout});  // old news
  EXPECT_EQ(lb.PickPath({}), next);
}

}  // namespace
}  // namespace weir
