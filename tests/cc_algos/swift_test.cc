#include "cc_algos/swift.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/cc_driver.h"

namespace weir {
namespace {

constexpr Bytes kMtu{4096};
constexpr double kBase = 15'000;           // 1.25 * 12 us
constexpr double kRange = 5 * kBase;       // of flow scaling
constexpr double kBdp = 150'000.0 / 4096;  // 36.62 packets

class SwiftTest : public testing::Test {
 protected:
  void SetWindow(double packets) { cc_.Restore({.window = Scaled(kMtu, packets)}); }
  void Ack(Bytes n, Duration rtt) {
    driver_.Send(n);
    driver_.Ack(n, Bytes(0), rtt);
  }

  Swift cc_{kTestFlow, {}};
  CcDriver driver_{cc_};
};

TEST_F(SwiftTest, StartsAtOneBdpWithoutPacing) {
  EXPECT_DOUBLE_EQ(cc_.window(), kBdp);
  EXPECT_EQ(cc_.allowance().window, Bytes(150'000));
  EXPECT_EQ(cc_.allowance().rate, Rate::Max());
}

// T-SWIFT-1
TEST_F(SwiftTest, TheTargetGrowsAsTheWindowShrinks) {
  SetWindow(100);
  EXPECT_NEAR(cc_.target(), kBase, 1);
  SetWindow(120);
  EXPECT_EQ(cc_.target(), kBase);  // fs_max is the end
  SetWindow(0.1);
  EXPECT_NEAR(cc_.target(), kBase + kRange, 0.001 * kRange);  // whole bytes: 409 of 409.6
  SetWindow(0.02);
  EXPECT_EQ(cc_.target(), kBase + kRange);
  // fs_alpha = range / (sqrt(10) - 1/10) = 24491, fs_beta = -fs_alpha / 10.
  SetWindow(1);
  EXPECT_NEAR(cc_.target(), kBase + 24'491 * 0.9, 1);
  SetWindow(25);
  EXPECT_NEAR(cc_.target(), kBase + 24'491 * 0.1, 1);
}

TEST_F(SwiftTest, TheTargetIsMonotoneInTheWindow) {
  double last = 1e9;
  for (double packets = 0.02; packets < 140; packets *= 1.1) {
    SetWindow(packets);
    EXPECT_LE(cc_.target(), last) << packets;
    last = cc_.target();
  }
}

TEST_F(SwiftTest, BelowTheTargetAWindowOfAcknowledgementsAddsOnePacket) {
  SetWindow(10);
  Ack(10 * kMtu, Micros(12));
  EXPECT_NEAR(cc_.window(), 11, 1e-9);  // + 1 * 10/10
}

TEST_F(SwiftTest, BelowOnePacketEachPacketAddsOne) {
  SetWindow(0.5);
  Ack(kMtu, Micros(12));
  EXPECT_NEAR(cc_.window(), 1.5, 1e-9);
}

TEST_F(SwiftTest, TheCutIsInProportionToTheExcessDelay) {
  SetWindow(120);  // target 15 us
  Ack(kMtu, Micros(20));
  EXPECT_NEAR(cc_.window(), 120 * (1 - 0.8 * 5 / 20), 1e-9);
}

TEST_F(SwiftTest, ExactlyAtTheTargetTheWindowIsCutByNothing) {
  SetWindow(120);
  Ack(kMtu, Micros(15));
  EXPECT_NEAR(cc_.window(), 120, 1e-9);
  Ack(120 * kMtu, Micros(15) - Duration(1));
  EXPECT_NEAR(cc_.window(), 121, 1e-9);
}

TEST_F(SwiftTest, OneCutTakesAtMostHalf) {
  SetWindow(120);
  Ack(kMtu, Micros(1000));  // 1 - 0.8 * 985/1000 = 0.212
  EXPECT_NEAR(cc_.window(), 60, 1e-9);
}

// T-SWIFT-5
TEST_F(SwiftTest, OneRttCutsOnce) {
  SetWindow(120);
  Ack(kMtu, Micros(40));
  const double after = cc_.window();
  driver_.Advance(Micros(40) - Duration(1));
  Ack(kMtu, Micros(40));
  driver_.Send(kMtu);
  driver_.Lose(kMtu, LossCause::kOrder);
  EXPECT_EQ(cc_.window(), after);
  driver_.Advance(Duration(1));
  Ack(kMtu, Micros(40));
  EXPECT_LT(cc_.window(), after);
}

// While a queue builds up, the effect of a cut shows only after the round trip of now.
TEST_F(SwiftTest, TheRttOfNowSaysHowLongACutLasts) {
  SetWindow(120);
  Ack(kMtu, Micros(40));
  const double after = cc_.window();
  driver_.Advance(Micros(60));
  Ack(kMtu, Micros(80));
  EXPECT_EQ(cc_.window(), after);
  driver_.Advance(Micros(20));
  Ack(kMtu, Micros(80));
  EXPECT_LT(cc_.window(), after);
}

TEST_F(SwiftTest, BelowOnePacketTheRateSpacesPackets) {
  SetWindow(0.25);
  // One packet each 12 us / 0.25 = 48 us: 4096 * 8 / 48 us = 682.67 Mb/s.
  EXPECT_EQ(cc_.allowance().rate, Rate(682'666'666));
  EXPECT_EQ(cc_.allowance().window, Bytes(1024));
  SetWindow(1);
  EXPECT_EQ(cc_.allowance().rate, Rate::Max());
}

TEST_F(SwiftTest, PacingFollowsTheSmoothedRtt) {
  SetWindow(120);
  Ack(kMtu, Micros(20));  // 12 us + (20 - 12) us / 8 = 13 us
  SetWindow(0.25);
  EXPECT_EQ(cc_.allowance().rate, Rate(630'153'846));  // 1024 * 8 / 13 us
}

TEST_F(SwiftTest, ALossCutsByMaxMdfAndIsUndoneIfThereWasNone) {
  SetWindow(120);
  driver_.Send(kMtu);
  driver_.Lose(kMtu, LossCause::kOrder);
  EXPECT_NEAR(cc_.window(), 60, 1e-9);
  cc_.OnSpurious({.now = driver_.now(), .bytes = kMtu});
  EXPECT_NEAR(cc_.window(), 120, 1e-9);
}

TEST_F(SwiftTest, TheFifthTimeoutInARowFallsToTheFloor) {
  SetWindow(128);
  for (int i = 1; i <= 4; ++i) {
    driver_.Send(kMtu);
    driver_.Advance(Micros(100));
    driver_.Timeout();
    EXPECT_NEAR(cc_.window(), 128 / std::exp2(i), 1e-9);
  }
  driver_.Send(kMtu);
  driver_.Timeout();
  EXPECT_EQ(cc_.window(), 0.01);
}

TEST_F(SwiftTest, SamplesThatCannotBeTrustedChangeNothing) {
  SetWindow(120);
  Ack(kMtu, Duration(0));
  driver_.Send(kMtu);
  driver_.Ack(kMtu, Bytes(0), Millis(1), Limit::kWindow, /*host_stall=*/true);
  EXPECT_NEAR(cc_.window(), 120, 1e-9);
}

TEST_F(SwiftTest, TheWindowIsBounded) {
  for (int i = 0; i < 1000; ++i) Ack(16 * kMtu, Micros(12));
  EXPECT_DOUBLE_EQ(cc_.window(), 4 * kBdp);
}

}  // namespace
}  // namespace weir
