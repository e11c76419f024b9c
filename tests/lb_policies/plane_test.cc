#include "lb_policies/plane.h"

#include <gtest/gtest.h>

#include "tests/lb_policies/lb_support.h"

namespace weir {
namespace {

constexpr uint32_t kPaths = 64;
constexpr uint32_t kPlanes = 8;
constexpr Duration kGrace = Micros(24);

class PlaneTest : public testing::Test {
 protected:
  enum Counter { kLeft, kBack };

  PlaneTest() : lb_(Info(), {}) {}
  LbInfo Info() {
    LbInfo info = TestLb(kPaths);
    info.health = &health_;
    return info;
  }
  // Packets of each plane.
  std::vector<int> Uses(int packets) {
    std::vector<int> uses(kPlanes);
    for (const PathId path : Pick(lb_, packets)) ++uses[path % kPlanes];
    return uses;
  }
  void Tell(PathId path, PathEvent event) {
    const PathFeedback feedback{.now = now_, .path = path, .event = event};
    health_.OnFeedback(feedback);
    lb_.OnFeedback(feedback);
  }
  // Two paths of plane 3, while plane 4 works.
  void Fail() {
    Tell(3, PathEvent::kTimeout);
    Tell(11, PathEvent::kTimeout);
    now_ = now_ + kGrace;
    Tell(4, PathEvent::kGood);
    for (PathId path = 0; health_.Next(now_, path);) {
    }
  }

  PathHealth health_{kPaths, kGrace};
  Plane lb_;
  Time now_{1'000'000};
};

TEST_F(PlaneTest, PlanesInTurnAndTheirPathsInTurn) {
  const auto first = Pick(lb_, kPaths);
  for (uint32_t i = kPlanes; i < kPaths; ++i) {
    EXPECT_EQ(first[i] % kPlanes, first[i - kPlanes] % kPlanes);
  }
  std::vector<PathId> sorted = first;
  std::sort(sorted.begin(), sorted.end());
  for (PathId path = 0; path < kPaths; ++path) EXPECT_EQ(sorted[path], path);
}

TEST_F(PlaneTest, OneBadPathIsAvoidedAndItsPlaneStays) {
  Tell(3, PathEvent::kTimeout);
  std::vector<int> uses(kPaths);
  for (const PathId path : Pick(lb_, 640)) ++uses[path];
  EXPECT_EQ(uses[3], 0);
  for (const int n : Uses(80)) EXPECT_EQ(n, 10);
}

// LB-19.12, as far as a policy goes: the other seven carry everything from then on.
TEST_F(PlaneTest, APlaneWhosePathsFailTogetherIsLeft) {
  Fail();
  EXPECT_EQ(lb_.counters()[kLeft], 1u);
  const auto uses = Uses(70);
  for (uint32_t plane = 0; plane < kPlanes; ++plane) {
    EXPECT_EQ(uses[plane], plane == 3 ? 0 : 10) << plane;
  }
}

TEST_F(PlaneTest, GoodNewsInBetweenMeansThatThePathsFailedApart) {
  Tell(3, PathEvent::kTimeout);
  Tell(19, PathEvent::kGood);
  Tell(11, PathEvent::kTimeout);
  EXPECT_EQ(lb_.counters()[kLeft], 0u);
}

TEST_F(PlaneTest, TheSamePathTwiceIsOne) {
  Tell(3, PathEvent::kTimeout);
  Tell(3, PathEvent::kTimeout);
  EXPECT_EQ(lb_.counters()[kLeft], 0u);
}

TEST_F(PlaneTest, LossesOfPathsThatAreNotOutDoNotCount) {
  Tell(3, PathEvent::kLost);
  Tell(11, PathEvent::kLost);
  EXPECT_EQ(lb_.counters()[kLeft], 0u);
}

TEST_F(PlaneTest, ThePlaneIsBackWhenThePathThatProvedItsEndIs) {
  Fail();
  for (int i = 0; i < PathHealth::kGoodProbes; ++i) {
    now_ = now_ + PathHealth::kProbeFirst;
    for (PathId path = 0; health_.Next(now_, path);) health_.OnProbeAnswer(now_, path);
  }
  const auto uses = Uses(80);
  EXPECT_EQ(uses[3], 10);
  EXPECT_EQ(lb_.counters()[kBack], 1u);
}

TEST_F(PlaneTest, HalfOfThePlanesStay) {
  for (PathId path = 0; path < 16; ++path) Tell(path, PathEvent::kTimeout);
  EXPECT_EQ(lb_.counters()[kLeft], 4u);
}

}  // namespace
}  // namespace weir
