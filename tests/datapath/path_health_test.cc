// Which paths are used while some of them fail.
#include "datapath/api/path_health.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

constexpr Duration kGrace = Micros(24);

class PathHealthTest : public testing::Test {
 protected:
  void Tell(PathId path, PathEvent event) {
    health_.OnFeedback({.now = now_, .path = path, .event = event});
  }
  void Wait(Duration time) { now_ = now_ + time; }
  // Everything that is due; how many probes were sent on `path`.
  int Probes(PathId path) {
    int probes = 0;
    for (PathId to = 0; health_.Next(now_, to);) probes += to == path ? 1 : 0;
    return probes;
  }
  // Path 3 fails and path 4 works.
  void Evict() {
    Tell(3, PathEvent::kTimeout);
    Wait(kGrace / 2);
    Tell(4, PathEvent::kGood);
    Wait(kGrace / 2);
    Probes(3);
  }

  PathHealth health_{8, kGrace};
  Time now_{1'000'000};
};

TEST_F(PathHealthTest, ATimeoutSuspendsAPathAtOnce) {
  EXPECT_TRUE(health_.Usable(3));
  Tell(3, PathEvent::kTimeout);
  EXPECT_FALSE(health_.Usable(3));
  EXPECT_TRUE(health_.Usable(4));
}

TEST_F(PathHealthTest, OneLossDoesNotButTwoInARowDo) {
  Tell(3, PathEvent::kLost);
  EXPECT_TRUE(health_.Usable(3));
  Tell(3, PathEvent::kGood);
  Tell(3, PathEvent::kLost);
  EXPECT_TRUE(health_.Usable(3));
  Tell(3, PathEvent::kLost);
  EXPECT_FALSE(health_.Usable(3));
}

TEST_F(PathHealthTest, TrimsSayNothingOfAPath) {
  for (int i = 0; i < 10; ++i) {
    Tell(3, PathEvent::kTrimmed);
    Tell(3, PathEvent::kTrimmedLastHop);
  }
  EXPECT_TRUE(health_.Usable(3));
}

TEST_F(PathHealthTest, IfNothingArrivesNoPathIsBlamed) {
  for (PathId path = 0; path < 8; ++path) Tell(path, PathEvent::kTimeout);
  EXPECT_EQ(health_.out(), 4u);  // at least half stay
  Wait(kGrace);
  EXPECT_EQ(Probes(3), 0);
  EXPECT_EQ(health_.out(), 0u);
  EXPECT_EQ(health_.evictions(), 0u);
}

TEST_F(PathHealthTest, ALateArrivalClearsASuspect) {
  Tell(3, PathEvent::kTimeout);
  Wait(kGrace / 2);
  Tell(3, PathEvent::kGood);
  EXPECT_TRUE(health_.Usable(3));
}

TEST_F(PathHealthTest, ABadPathIsProbedAtGrowingIntervals) {
  Evict();
  EXPECT_EQ(health_.evictions(), 1u);
  for (const int64_t wait : {1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000}) {
    Wait(Millis(wait) - Nanos(1));
    EXPECT_EQ(Probes(3), 0) << wait;
    Wait(Nanos(1));
    EXPECT_EQ(Probes(3), 1) << wait;
    EXPECT_FALSE(health_.Usable(3));
  }
}

TEST_F(PathHealthTest, TwoAnswersInARowBringItBack) {
  Evict();
  Wait(Millis(1));
  ASSERT_EQ(Probes(3), 1);
  health_.OnProbeAnswer(now_, 3);
  health_.OnProbeAnswer(now_, 3);  // the same again is no second one
  EXPECT_FALSE(health_.Usable(3));
  Wait(Millis(1));
  ASSERT_EQ(Probes(3), 1);
  health_.OnProbeAnswer(now_, 3);
  EXPECT_TRUE(health_.Usable(3));
  EXPECT_EQ(health_.returns(), 1u);
}

TEST_F(PathHealthTest, ALostProbeBetweenTwoAnswersStartsTheCountAgain) {
  Evict();
  Wait(Millis(1));
  ASSERT_EQ(Probes(3), 1);
  health_.OnProbeAnswer(now_, 3);
  Wait(Millis(1));
  ASSERT_EQ(Probes(3), 1);
  Wait(Millis(1));
  ASSERT_EQ(Probes(3), 1);  // the one before was lost
  health_.OnProbeAnswer(now_, 3);
  EXPECT_FALSE(health_.Usable(3));
}

// A link that flaps is tried ever more seldom.
TEST_F(PathHealthTest, ARelapseDoublesTheFirstInterval) {
  for (const int64_t interval : {1, 2, 4, 8}) {
    Evict();
    for (int i = 0; i < 2; ++i) {
      Wait(Millis(interval) - Nanos(1));
      EXPECT_EQ(Probes(3), 0) << interval;
      Wait(Nanos(1));
      EXPECT_EQ(Probes(3), 1) << interval;
      health_.OnProbeAnswer(now_, 3);
    }
    EXPECT_TRUE(health_.Usable(3));
  }
}

TEST_F(PathHealthTest, APathThatStaysGoodIsForgotten) {
  Evict();
  for (int i = 0; i < 2; ++i) {
    Wait(Millis(1));
    Probes(3);
    health_.OnProbeAnswer(now_, 3);
  }
  Wait(Millis(32));
  Probes(3);
  EXPECT_EQ(health_.deadline(), Time::Never());
}

TEST(PathHealthFloorTest, TheOnlyPathIsNeverGivenUp) {
  PathHealth health(1, kGrace);
  health.OnFeedback({.now = Time(1), .path = 0, .event = PathEvent::kTimeout});
  EXPECT_TRUE(health.Usable(0));
}

}  // namespace
}  // namespace weir
