#include "lb_policies/power_of_two.h"

#include <gtest/gtest.h>

#include "tests/lb_policies/lb_support.h"

namespace weir {
namespace {

constexpr int kPaths = 8;
constexpr int kPackets = 8000;
constexpr PowerOfTwo::Config kStrict = {.margin = Nanos(1)};

std::vector<int> Uses(LoadBalancer& lb, Time now) {
  std::vector<int> uses(kPaths);
  for (int i = 0; i < kPackets; ++i) ++uses[lb.PickPath({.now = now})];
  return uses;
}
void Tell(LoadBalancer& lb, PathId path, Duration rtt, Time now = Time(0)) {
  lb.OnFeedback({.now = now, .path = path, .event = PathEvent::kGood, .rtt = rtt});
}

// The worst of eight paths is taken only if it is drawn twice: 1/64 of 8000 are 125 +- 3 * 11. The
// best is taken if it is drawn at all: 15/64 are 1875 +- 3 * 38.
TEST(PowerOfTwoTest, TheShorterRoundTripWins) {
  PowerOfTwo lb(TestLb(kPaths), kStrict);
  for (PathId path = 0; path < kPaths; ++path) Tell(lb, path, Micros(12 + 2 * path));
  const auto uses = Uses(lb, Time(0));
  EXPECT_NEAR(uses[0], 1875, 114);
  EXPECT_NEAR(uses[7], 125, 33);
}

TEST(PowerOfTwoTest, WithoutNewsEveryPathIsAsGood) {
  PowerOfTwo lb(TestLb(kPaths), {});
  for (const int n : Uses(lb, Time(0))) EXPECT_NEAR(n, 1000, 89);  // 3 sqrt(1000 * 7/8)
}

// An excess of two base RTTs is 64 units: after seven halvings, of 4 RTTs each, nothing is left.
TEST(PowerOfTwoTest, OldNewsFades) {
  PowerOfTwo lb(TestLb(kPaths), kStrict);
  Tell(lb, 3, Micros(36));
  EXPECT_NEAR(Uses(lb, Time(0) + 6 * Micros(48))[3], 125, 33);
  EXPECT_NEAR(Uses(lb, Time(0) + 7 * Micros(48))[3], 1000, 89);
}

TEST(PowerOfTwoTest, LossIsWorseThanAnyRoundTrip) {
  for (const PathEvent event : {PathEvent::kLost, PathEvent::kTimeout, PathEvent::kTrimmed}) {
    PowerOfTwo lb(TestLb(kPaths), kStrict);
    for (PathId path = 0; path < kPaths; ++path) Tell(lb, path, Micros(90));
    lb.OnFeedback({.path = 5, .event = event});
    EXPECT_NEAR(Uses(lb, Time(0))[5], 125, 33);
  }
}

// 128 on 128 put 2.7 on the fullest, against 4.4 at random: here each choice is told at once, as a
// round trip that is longer by what waits there.
TEST(PowerOfTwoTest, ChoicesThatAreToldAtOnceEvenOut) {
  double sum = 0;
  constexpr int kSeeds = 200;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    PowerOfTwo lb(TestLb(128, seed), kStrict);
    std::vector<int> load(128);
    for (int i = 0; i < 128; ++i) {
      const PathId path = lb.PickPath({});
      Tell(lb, path, Micros(12 + 12 * ++load[path]));
    }
    sum += *std::max_element(load.begin(), load.end());
  }
  EXPECT_NEAR(sum / kSeeds, 2.7, 0.1);
}

// 9 us of 12: an excess of 9 us is none, and one of 10 us is.
TEST(PowerOfTwoTest, ASmallDifferenceIsNone) {
  PowerOfTwo lb(TestLb(kPaths), {});
  Tell(lb, 3, Micros(21));
  EXPECT_NEAR(Uses(lb, Time(0))[3], 1000, 89);
  Tell(lb, 3, Micros(22));
  EXPECT_NEAR(Uses(lb, Time(0))[3], 125, 33);
}

TEST(PowerOfTwoTest, PathsThatAreOutAreNotDrawn) {
  PathHealth health(kPaths, Micros(24));
  LbInfo info = TestLb(kPaths);
  info.health = &health;
  PowerOfTwo lb(info, {});
  health.OnFeedback({.path = 2, .event = PathEvent::kTimeout});
  // Only if both draws meet it four times in a row: 8^-8.
  EXPECT_EQ(Uses(lb, Time(0))[2], 0);
}

}  // namespace
}  // namespace weir
