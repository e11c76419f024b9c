#include "lb_policies/reps.h"

#include <gtest/gtest.h>

#include "tests/lb_policies/lb_support.h"

namespace weir {
namespace {

// T-REPS-1: the state machine, event by event. A BDP of 40960 B is 10 packets; 11 are explored, so
// that the whole BDP is.
constexpr uint32_t kExplore = 11;

class RepsTest : public testing::Test {
 protected:
  enum Counter { kExplored, kRecycled, kReused, kFreezes };

  using Paths = std::vector<PathId>;

  PathId Pick() { return lb_.PickPath({}); }
  void Explore(uint32_t packets = kExplore) {
    for (uint32_t i = 0; i < packets; ++i) Pick();
  }
  void Tell(PathId path, PathEvent event, Time now = Time(0)) {
    lb_.OnFeedback({.now = now, .path = path, .event = event});
  }
  uint64_t Count(Counter counter) const { return lb_.counters()[counter]; }

  Reps lb_{TestLb(65'536), {.freezing_timeout = Micros(500)}};
};

TEST_F(RepsTest, TheFirstBdpExplores) {
  Tell(7, PathEvent::kGood);
  Explore();
  EXPECT_EQ(Count(kExplored), kExplore);
  EXPECT_EQ(Pick(), 7);
  EXPECT_EQ(Count(kRecycled), 1u);
}

TEST_F(RepsTest, GoodPathsAreUsedAgainOnceOldestFirst) {
  Explore();
  for (const PathId path : Paths{3, 1, 2}) Tell(path, PathEvent::kGood);
  EXPECT_EQ(Pick(), 3);
  EXPECT_EQ(Pick(), 1);
  EXPECT_EQ(Pick(), 2);
  Pick();
  EXPECT_EQ(Count(kExplored), kExplore + 1);  // nothing left: random
}

TEST_F(RepsTest, MarkedTrimmedAndLostPathsAreNotUsedAgain) {
  Explore();
  for (const PathEvent event : {PathEvent::kMarked, PathEvent::kTrimmed, PathEvent::kLost}) {
    Tell(5, event);
    Pick();
  }
  EXPECT_EQ(Count(kRecycled), 0u);
  EXPECT_EQ(Count(kExplored), kExplore + 3);
}

TEST_F(RepsTest, ATrimAtTheLastHopSaysNothingAgainstThePath) {
  Explore();
  Tell(5, PathEvent::kTrimmedLastHop);
  EXPECT_EQ(Pick(), 5);
}

TEST_F(RepsTest, AFullBufferLosesItsOldest) {
  Explore();
  for (PathId path = 0; path < 11; ++path) Tell(path, PathEvent::kGood);  // 8 fit: 3 .. 10
  for (PathId path = 3; path < 11; ++path) EXPECT_EQ(Pick(), path);
  Pick();
  EXPECT_EQ(Count(kExplored), kExplore + 1);
}

TEST_F(RepsTest, TheBufferWrapsAroundPartlyUsed) {
  Explore();
  for (PathId path = 0; path < 6; ++path) Tell(path, PathEvent::kGood);
  for (PathId path = 0; path < 4; ++path) EXPECT_EQ(Pick(), path);
  for (PathId path = 6; path < 12; ++path) Tell(path, PathEvent::kGood);
  for (PathId path = 4; path < 12; ++path) EXPECT_EQ(Pick(), path);
}

TEST_F(RepsTest, WhileFrozenStoredPathsAreUsedInTurn) {
  Explore();
  for (const PathId path : Paths{3, 1, 2}) Tell(path, PathEvent::kGood);
  Tell(9, PathEvent::kTimeout);
  EXPECT_EQ(Count(kFreezes), 1u);
  for (const PathId path : Paths{3, 1, 2}) EXPECT_EQ(Pick(), path);  // still valid
  for (const PathId path : Paths{3, 1, 2, 3, 1, 2, 3}) EXPECT_EQ(Pick(), path);
  EXPECT_EQ(Count(kReused), 7u);
}

TEST_F(RepsTest, WhileFrozenGoodNewsComesFirst) {
  Explore();
  for (const PathId path : Paths{3, 1, 2}) Tell(path, PathEvent::kGood);
  Explore(3);
  Tell(9, PathEvent::kTimeout);
  Tell(4, PathEvent::kGood);
  EXPECT_EQ(Pick(), 4);
  EXPECT_EQ(Pick(), 3);
}

TEST_F(RepsTest, WithNothingStoredAFrozenConnectionExplores) {
  Explore();
  Tell(9, PathEvent::kTimeout);
  Pick();
  EXPECT_EQ(Count(kExplored), kExplore + 1);
}

TEST_F(RepsTest, ATimeoutWhileExploringDoesNotFreeze) {
  Explore(kExplore - 1);
  Tell(9, PathEvent::kTimeout);
  EXPECT_EQ(Count(kFreezes), 0u);
  Pick();
  Tell(9, PathEvent::kTimeout);
  EXPECT_EQ(Count(kFreezes), 1u);
  Tell(9, PathEvent::kTimeout);  // frozen already
  EXPECT_EQ(Count(kFreezes), 1u);
}

TEST_F(RepsTest, FeedbackAfterTheFreezeThawsAndExploresOneBdp) {
  Explore();
  Tell(3, PathEvent::kGood);
  Tell(9, PathEvent::kTimeout, Time(1000));
  Tell(3, PathEvent::kGood, Time(501'000));  // exactly the time-out: still frozen
  EXPECT_EQ(Pick(), 3);
  EXPECT_EQ(Count(kExplored), kExplore);
  Tell(3, PathEvent::kMarked, Time(501'001));
  Explore();
  EXPECT_EQ(Count(kExplored), 2 * kExplore);
}

TEST_F(RepsTest, FreezingCanBeTurnedOff) {
  Reps lb(TestLb(65'536), {.freezing_timeout = Duration(0), .explore_packets = 1});
  lb.PickPath({});
  lb.OnFeedback({.event = PathEvent::kTimeout});
  EXPECT_EQ(lb.counters()[kFreezes], 0u);
}

TEST_F(RepsTest, RandomPathsCoverAnyNumberOfThem) {
  Reps lb(TestLb(3), {});
  std::vector<int> count(3);
  for (int i = 0; i < 3000; ++i) ++count[lb.PickPath({})];
  for (const int n : count) EXPECT_NEAR(n, 1000, 110);
}

}  // namespace
}  // namespace weir
