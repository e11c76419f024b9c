#include "lb_policies/pinned.h"

#include <gtest/gtest.h>

#include "tests/lb_policies/lb_support.h"

namespace weir {
namespace {

TEST(PinnedTest, EveryPacketTakesTheGivenPath) {
  Pinned lb(TestLb(8), {.path = 5});
  for (const PathId path : Pick(lb, 100)) EXPECT_EQ(path, 5);
  lb.OnFeedback({.path = 5, .event = PathEvent::kTimeout});
  EXPECT_EQ(lb.PickPath({}), 5);
}

TEST(PinnedTest, APathBeyondTheLastCountsOnFromTheFirst) {
  EXPECT_EQ(Pinned(TestLb(8), {.path = 7}).PickPath({}), 7);
  EXPECT_EQ(Pinned(TestLb(8), {.path = 8}).PickPath({}), 0);
  EXPECT_EQ(Pinned(TestLb(65'536), {.path = 65'535}).PickPath({}), 65'535);
}

TEST(PinnedTest, TheSeedDoesNotMatter) {
  EXPECT_EQ(Pinned(TestLb(8, 1), {.path = 3}).PickPath({}),
            Pinned(TestLb(8, 2), {.path = 3}).PickPath({}));
}

}  // namespace
}  // namespace weir
