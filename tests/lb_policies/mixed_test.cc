#include "lb_policies/mixed.h"

#include <gtest/gtest.h>

#include "tests/lb_policies/lb_support.h"

namespace weir {
namespace {

enum Counter { kRecycled, kInTurn };

TEST(MixedTest, GoodPathsComeFirstThenThoseInTurn) {
  Mixed lb(TestLb(64), {});
  lb.OnFeedback({.path = 9, .event = PathEvent::kGood});
  lb.OnFeedback({.path = 4, .event = PathEvent::kTrimmedLastHop});
  EXPECT_EQ(lb.PickPath({}), 9);
  EXPECT_EQ(lb.PickPath({}), 4);
  EXPECT_EQ(lb.counters()[kRecycled], 2u);
  std::vector<PathId> pass = Pick(lb, 64);
  std::sort(pass.begin(), pass.end());
  for (PathId path = 0; path < 64; ++path) EXPECT_EQ(pass[path], path);
  EXPECT_EQ(lb.counters()[kInTurn], 64u);
}

TEST(MixedTest, BadPathsArePassedOver) {
  Mixed lb(TestLb(64), {});
  lb.OnFeedback({.path = 9, .event = PathEvent::kTrimmed});  // four passes
  for (const PathId path : Pick(lb, 3 * 64)) EXPECT_NE(path, 9);
  EXPECT_EQ(lb.counters()[kRecycled], 0u);
}

TEST(MixedTest, TheListKeepsTheLatest) {
  Mixed lb(TestLb(64), {.buffer = 2});
  for (PathId path = 1; path <= 3; ++path) lb.OnFeedback({.path = path});
  EXPECT_EQ(lb.PickPath({}), 2);
  EXPECT_EQ(lb.PickPath({}), 3);
  lb.PickPath({});
  EXPECT_EQ(lb.counters()[kInTurn], 1u);
}

}  // namespace
}  // namespace weir
