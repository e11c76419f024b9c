#include "lb_policies/weighted.h"

#include <gtest/gtest.h>

#include "tests/lb_policies/lb_support.h"

namespace weir {
namespace {

constexpr int kPaths = 8;
constexpr int kPackets = 8000;

std::vector<int> Uses(LoadBalancer& lb, Time now = Time(0) + Seconds(1)) {
  std::vector<int> uses(kPaths);
  for (int i = 0; i < kPackets; ++i) ++uses[lb.PickPath({.now = now})];
  return uses;
}
// Until the score has settled.
void Tell(LoadBalancer& lb, PathId path, PathEvent event, Duration rtt = {}) {
  for (int i = 0; i < 200; ++i) lb.OnFeedback({.path = path, .event = event, .rtt = rtt});
}

// Seven paths of weight 1 and one of 1/2: 8000 / 15 = 533 +- 3 * 22.
TEST(WeightedTest, TwiceTheRoundTripIsHalfTheWeight) {
  Weighted lb(TestLb(kPaths), {});
  for (PathId path = 0; path < kPaths; ++path) {
    Tell(lb, path, PathEvent::kGood, path == 3 ? Micros(24) : Micros(12));
  }
  EXPECT_NEAR(Uses(lb)[3], 533, 66);
}

// Half of its packets marked: weight 1/2 again. The score moves by an eighth around it.
TEST(WeightedTest, TheUnmarkedPartIsTheWeight) {
  Weighted lb(TestLb(kPaths), {.by = Weighted::By::kMarks, .gain = 0.01});
  for (int i = 0; i < 1000; ++i) {
    lb.OnFeedback({.path = 3, .event = i % 2 == 0 ? PathEvent::kGood : PathEvent::kMarked});
  }
  EXPECT_NEAR(Uses(lb)[3], 533, 66);
}

TEST(WeightedTest, RoundTripsDoNotCountByMarksNorMarksByRoundTrips) {
  Weighted by_marks(TestLb(kPaths), {.by = Weighted::By::kMarks});
  Tell(by_marks, 3, PathEvent::kGood, Micros(100));
  EXPECT_NEAR(Uses(by_marks)[3], 1000, 89);
  Weighted by_rtt(TestLb(kPaths), {});
  Tell(by_rtt, 3, PathEvent::kMarked, Micros(12));
  EXPECT_NEAR(Uses(by_rtt)[3], 1000, 89);
}

// Of eight scores seven are 1 and one is 0: the floor is 7/8 / 4 = 0.22, the share 0.22 / 7.22 =
// 3.0 %, near 1 / (4 * 8); 242 +- 3 * 15.
TEST(WeightedTest, ADeadPathStaysObserved) {
  for (const PathEvent event : {PathEvent::kLost, PathEvent::kTimeout, PathEvent::kTrimmed}) {
    Weighted lb(TestLb(kPaths), {});
    Tell(lb, 3, event);
    EXPECT_NEAR(Uses(lb)[3], 242, 45);
  }
}

// The largest weight is what counts, not its distance from 1.
TEST(WeightedTest, IfAllAreEquallyBadAllAreUsedAlike) {
  Weighted lb(TestLb(kPaths), {.by = Weighted::By::kMarks});
  for (PathId path = 0; path < kPaths; ++path) Tell(lb, path, PathEvent::kMarked);
  for (const int n : Uses(lb)) EXPECT_NEAR(n, 1000, 89);
}

TEST(WeightedTest, PathsThatAreOutAreNotDrawn) {
  PathHealth health(kPaths, Micros(24));
  LbInfo info = TestLb(kPaths);
  info.health = &health;
  Weighted lb(info, {});
  health.OnFeedback({.path = 2, .event = PathEvent::kTimeout});
  EXPECT_EQ(Uses(lb)[2], 0);
}

}  // namespace
}  // namespace weir
