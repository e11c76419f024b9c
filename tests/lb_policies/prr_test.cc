#include "lb_policies/prr.h"

#include <gtest/gtest.h>

#include "tests/lb_policies/lb_support.h"

namespace weir {
namespace {

TEST(PrrTest, OnlyATimeoutMovesIt) {
  Prr lb(TestLb(65'536), {});
  const PathId path = lb.PickPath({});
  // T-PRR-3: no loss or reordering does.
  for (const PathEvent event : {PathEvent::kGood, PathEvent::kMarked, PathEvent::kTrimmed,
                                PathEvent::kTrimmedLastHop, PathEvent::kLost}) {
    lb.OnFeedback({.path = path, .event = event});
    EXPECT_EQ(lb.PickPath({}), path);
  }
  lb.OnFeedback({.path = path, .event = PathEvent::kTimeout});
  EXPECT_NE(lb.PickPath({}), path);
  EXPECT_EQ(lb.counters()[0], 1u);
}

// All packets in flight are told of at once, and the old path for a while.
TEST(PrrTest, OneTimeoutIsOneMove) {
  Prr lb(TestLb(65'536), {});
  const PathId path = lb.PickPath({});
  for (int i = 0; i < 5; ++i) lb.OnFeedback({.path = path, .event = PathEvent::kTimeout});
  lb.OnFeedback({.now = Time(1), .path = path, .event = PathEvent::kTimeout});
  EXPECT_EQ(lb.counters()[0], 1u);
}

TEST(PrrTest, MayWaitForSeveralTimeoutsInARow) {
  Prr lb(TestLb(65'536), {.timeouts = 2});
  const PathId path = lb.PickPath({});
  lb.OnFeedback({.now = Time(1), .path = path, .event = PathEvent::kTimeout});
  lb.OnFeedback({.now = Time(2), .path = path, .event = PathEvent::kGood});
  lb.OnFeedback({.now = Time(3), .path = path, .event = PathEvent::kTimeout});
  EXPECT_EQ(lb.PickPath({}), path);
  lb.OnFeedback({.now = Time(4), .path = path, .event = PathEvent::kTimeout});
  EXPECT_NE(lb.PickPath({}), path);
}

// T-PRR-1: with one of eight paths dead, of those who are on it 1/8 are after one move, 1/64 after
// two. Of 20000: 2500 +- 3 * 47 and 312 +- 3 * 18.
TEST(PrrTest, EachMoveLeavesAnEighthBehind) {
  int after_one = 0;
  int after_two = 0;
  int seen = 0;
  for (uint64_t seed = 0; seen < 20'000; ++seed) {
    Prr lb(TestLb(8, seed), {});
    if (lb.PickPath({}) != 0) continue;
    ++seen;
    lb.OnFeedback({.now = Time(1), .path = 0, .event = PathEvent::kTimeout});
    if (lb.PickPath({}) != 0) continue;
    ++after_one;
    lb.OnFeedback({.now = Time(2), .path = 0, .event = PathEvent::kTimeout});
    after_two += lb.PickPath({}) == 0 ? 1 : 0;
  }
  EXPECT_NEAR(after_one, 2500, 141);
  EXPECT_NEAR(after_two, 312, 53);
}

}  // namespace
}  // namespace weir
