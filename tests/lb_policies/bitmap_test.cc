#include "lb_policies/bitmap.h"

#include <gtest/gtest.h>

#include "tests/lb_policies/lb_support.h"

namespace weir {
namespace {

constexpr int kPool = 64;

// How often each path is used in so many passes.
std::vector<int> Uses(Bitmap& lb, int passes) {
  std::vector<int> uses(kPool);
  for (const PathId path : Pick(lb, passes * kPool)) ++uses[path];
  return uses;
}

// T-BMP-1: a path with penalty p is passed over p times. Each time the packet takes the next path,
// so that its turn p comes p packets early: perhaps within the 64 packets before.
TEST(BitmapTest, APenaltyIsThatManyPasses) {
  struct Row {
    PathEvent event;
    int penalty;
  };
  for (const Row& row :
       {Row{PathEvent::kGood, 0}, Row{PathEvent::kTrimmedLastHop, 0}, Row{PathEvent::kMarked, 1},
        Row{PathEvent::kTrimmed, 4}, Row{PathEvent::kLost, 15}, Row{PathEvent::kTimeout, 15}}) {
    Bitmap lb(TestLb(kPool), {.pool = kPool});
    lb.OnFeedback({.path = 7, .event = row.event});
    int unused = 0;
    while (Uses(lb, 1)[7] == 0) ++unused;
    EXPECT_LE(unused, row.penalty) << static_cast<int>(row.event);
    EXPECT_GE(unused, row.penalty - 1) << static_cast<int>(row.event);
    EXPECT_EQ(lb.counters()[0], static_cast<uint64_t>(row.penalty));
  }
}

TEST(BitmapTest, PenaltiesAddUpToFifteen) {
  Bitmap lb(TestLb(kPool), {.pool = kPool});
  for (int i = 0; i < 3; ++i) lb.OnFeedback({.path = 7, .event = PathEvent::kTrimmed});
  lb.OnFeedback({.path = 7, .event = PathEvent::kMarked});  // 3 * 4 + 1 = 13
  Uses(lb, 100);
  EXPECT_EQ(lb.counters()[0], 13u);
  for (int i = 0; i < 9; ++i) lb.OnFeedback({.path = 7, .event = PathEvent::kTrimmed});
  Uses(lb, 100);
  EXPECT_EQ(lb.counters()[0], 13u + 15u);
}

TEST(BitmapTest, NeighboursHavePenaltiesOfTheirOwn) {
  Bitmap lb(TestLb(kPool), {.pool = kPool});
  lb.OnFeedback({.path = 6, .event = PathEvent::kLost});
  lb.OnFeedback({.path = 7, .event = PathEvent::kMarked});
  const auto uses = Uses(lb, 10);
  EXPECT_EQ(uses[6], 0);
  EXPECT_GE(uses[7], 8);
}

// T-BMP-2.
TEST(BitmapTest, WithPenaltiesOnAllPathsItSendsStill) {
  Bitmap lb(TestLb(kPool), {.pool = kPool});
  for (PathId path = 0; path < kPool; ++path)
    lb.OnFeedback({.path = path, .event = PathEvent::kLost});
  // Each choice takes 1 off the first of its paths, as long as that has any.
  Uses(lb, 100);
  for (const int n : Uses(lb, 10)) EXPECT_NEAR(n, 10, 1);
}

// Each choice meets 16 paths at most: 15 are passed over.
TEST(BitmapTest, AChoiceMeetsSixteenPathsAtMost) {
  Bitmap lb(TestLb(kPool), {.pool = kPool});
  for (PathId path = 0; path < kPool; ++path)
    lb.OnFeedback({.path = path, .event = PathEvent::kLost});
  lb.PickPath({});
  EXPECT_EQ(lb.counters()[0], 15u);
}

TEST(BitmapTest, NewsOfAPathOutsideThePoolIsNone) {
  Bitmap lb(TestLb(1000), {.pool = 8});
  for (PathId path = 0; path < 1000; ++path)
    lb.OnFeedback({.path = path, .event = PathEvent::kLost});
  lb.PickPath({});
  EXPECT_EQ(lb.counters()[0], 15u);  // the eight of the pool, twice
}

}  // namespace
}  // namespace weir
