#include "lb_policies/mprdma_paths.h"

#include <gtest/gtest.h>

#include "tests/lb_policies/lb_support.h"

namespace weir {
namespace {

enum Counter { kClocked, kDrawn, kLeftBehind };

TEST(MprdmaPathsTest, AnAcknowledgementSendsOnePacketOnItsPath) {
  MprdmaPaths lb(TestLb(65'536), {.probe = 0});
  lb.OnFeedback({.path = 7, .event = PathEvent::kGood});
  lb.OnFeedback({.path = 9, .event = PathEvent::kGood});
  EXPECT_EQ(lb.PickPath({}), 7);
  EXPECT_EQ(lb.PickPath({}), 9);
  lb.PickPath({});  // the window has grown
  EXPECT_EQ(lb.counters()[kClocked], 2u);
  EXPECT_EQ(lb.counters()[kDrawn], 1u);
}

TEST(MprdmaPathsTest, AMarkedOrLostPacketSendsNone) {
  MprdmaPaths lb(TestLb(65'536), {.probe = 0});
  for (const PathEvent event :
       {PathEvent::kMarked, PathEvent::kTrimmed, PathEvent::kLost, PathEvent::kTimeout}) {
    lb.OnFeedback({.path = 7, .event = event});
    lb.PickPath({});
  }
  EXPECT_EQ(lb.counters()[kClocked], 0u);
}

// One base RTT of 12 us more than the shortest.
TEST(MprdmaPathsTest, APathThatLagsIsLeft) {
  MprdmaPaths lb(TestLb(65'536), {.probe = 0});
  lb.OnFeedback({.path = 1, .event = PathEvent::kGood, .rtt = Micros(10)});
  lb.OnFeedback({.path = 2, .event = PathEvent::kGood, .rtt = Micros(22)});
  lb.OnFeedback({.path = 3, .event = PathEvent::kGood, .rtt = Micros(22) + Nanos(1)});
  EXPECT_EQ(lb.PickPath({}), 1);
  EXPECT_EQ(lb.PickPath({}), 2);
  lb.PickPath({});
  EXPECT_EQ(lb.counters()[kDrawn], 1u);
  EXPECT_EQ(lb.counters()[kLeftBehind], 1u);
}

// 1 % of 10000: 100 +- 3 * 10.
TEST(MprdmaPathsTest, OneInAHundredTriesAnother) {
  MprdmaPaths lb(TestLb(65'536), {});
  for (int i = 0; i < 10'000; ++i) {
    lb.OnFeedback({.path = 7, .event = PathEvent::kGood});
    lb.PickPath({});
  }
  EXPECT_NEAR(static_cast<double>(lb.counters()[kDrawn]), 100, 30);
}

}  // namespace
}  // namespace weir
