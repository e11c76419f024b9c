#include "cc_algos/falcon.h"

#include <gtest/gtest.h>

#include "tests/support/cc_driver.h"

namespace weir {
namespace {

constexpr Bytes kMtu{4096};
constexpr double kBase = 15'000;           // 1.25 * 12 us
constexpr double kBdp = 150'000.0 / 4096;  // 36.62 packets

class FalconTest : public testing::Test {
 protected:
  void SetWindows(double packets) { cc_.Restore({.window = Scaled(kMtu, packets)}); }
  void Ack(Bytes n, Duration rtt, int level = 0) {
    driver_.See({.receiver_level = level});
    driver_.Send(n);
    driver_.Ack(n, Bytes(0), rtt);
  }

  Falcon cc_{kTestFlow, {}};
  CcDriver driver_{cc_};
};

TEST_F(FalconTest, BothWindowsStartAtOneBdp) {
  EXPECT_DOUBLE_EQ(cc_.fcwnd(), kBdp);
  EXPECT_DOUBLE_EQ(cc_.ncwnd(), kBdp);
  EXPECT_EQ(cc_.allowance().window, Bytes(150'000));
  EXPECT_EQ(cc_.allowance().rate, Rate::Max());
}

TEST_F(FalconTest, BelowTheTargetAWindowOfAcknowledgementsAddsOnePacketToFcwnd) {
  SetWindows(10);
  Ack(10 * kMtu, Micros(12));
  EXPECT_NEAR(cc_.fcwnd(), 11, 1e-9);  // + 1 * 10/10
}

TEST_F(FalconTest, FcwndIsCutInProportionToTheExcessDelayOnceAnRtt) {
  SetWindows(120);
  EXPECT_NEAR(cc_.target(), kBase, 1e-9);
  Ack(kMtu, Micros(20));
  EXPECT_NEAR(cc_.fcwnd(), 120 * (1 - 0.8 * 5 / 20), 1e-9);
  driver_.Advance(Micros(20) - Duration(1));
  Ack(kMtu, Micros(20));
  EXPECT_NEAR(cc_.fcwnd(), 96, 1e-9);
}

TEST_F(FalconTest, ALevelBelowTheTargetAddsOnePacketToNcwndAnRtt) {
  SetWindows(10);
  Ack(kMtu, Micros(12), 15);
  EXPECT_NEAR(cc_.ncwnd(), 11, 1e-9);
  driver_.Advance(Micros(12) - Duration(1));
  Ack(kMtu, Micros(12), 15);
  EXPECT_NEAR(cc_.ncwnd(), 11, 1e-9);
  driver_.Advance(Duration(1));
  Ack(kMtu, Micros(12), 15);
  EXPECT_NEAR(cc_.ncwnd(), 12, 1e-9);
}

TEST_F(FalconTest, NcwndIsCutInProportionToTheExcessLevelOnceAnRtt) {
  SetWindows(10);
  Ack(kMtu, Micros(12), 20);
  EXPECT_NEAR(cc_.ncwnd(), 10 * (1 - 4.0 / 20), 1e-9);
  Ack(kMtu, Micros(12), 20);
  EXPECT_NEAR(cc_.ncwnd(), 8, 1e-9);
}

TEST_F(FalconTest, AtTheTargetNcwndIsCutByNothing) {
  SetWindows(10);
  Ack(kMtu, Micros(12), 16);
  EXPECT_NEAR(cc_.ncwnd(), 10, 1e-9);
}

TEST_F(FalconTest, AfterACutALowLevelAddsAtOnce) {
  SetWindows(10);
  Ack(kMtu, Micros(12), 20);
  Ack(kMtu, Micros(12), 0);
  EXPECT_NEAR(cc_.ncwnd(), 9, 1e-9);
  Ack(kMtu, Micros(12), 0);
  EXPECT_NEAR(cc_.ncwnd(), 9, 1e-9);
}

TEST_F(FalconTest, AFullReceiverBringsNcwndToItsFloorAndItRecoversByOnePacketAnRtt) {
  for (int i = 0; i < 40; ++i) {
    driver_.Advance(Micros(12));
    Ack(kMtu, Micros(12), 31);  // 1 - 15/31 = 0.516
  }
  EXPECT_NEAR(cc_.ncwnd(), 0.01, 1e-12);
  for (int i = 1; i <= 5; ++i) {
    driver_.Advance(Micros(12));
    Ack(kMtu, Micros(12), 0);
    EXPECT_NEAR(cc_.ncwnd(), 0.01 + i, 1e-9);
  }
}

TEST_F(FalconTest, TheSmallerWindowHolds) {
  SetWindows(10);
  Ack(kMtu, Micros(12), 31);
  EXPECT_LT(cc_.ncwnd(), cc_.fcwnd());
  EXPECT_EQ(cc_.allowance().window, Scaled(kMtu, cc_.ncwnd()));
}

TEST_F(FalconTest, BelowOnePacketTheGapIsAnRttOverTheWindow) {
  SetWindows(0.25);
  const Duration gap = kMtu / cc_.allowance().rate;
  EXPECT_NEAR(static_cast<double>(gap.count()), 4 * 12'000, 1);
  SetWindows(1);
  EXPECT_EQ(cc_.allowance().rate, Rate::Max());
}

TEST_F(FalconTest, ALossCutsFcwndAloneAndIsUndoneIfThereWasNone) {
  SetWindows(120);
  driver_.Send(kMtu);
  driver_.Lose(kMtu, LossCause::kOrder);
  EXPECT_NEAR(cc_.fcwnd(), 60, 1e-9);
  EXPECT_NEAR(cc_.ncwnd(), 120, 1e-9);
  cc_.OnSpurious({.now = driver_.now(), .bytes = kMtu});
  EXPECT_NEAR(cc_.fcwnd(), 120, 1e-9);
}

TEST_F(FalconTest, TheFifthTimeoutInARowFallsToTheFloor) {
  SetWindows(128);
  for (int i = 1; i <= 4; ++i) {
    driver_.Send(kMtu);
    driver_.Advance(Micros(100));
    driver_.Timeout();
    EXPECT_NEAR(cc_.fcwnd(), 128 / (1 << i), 1e-9);
  }
  driver_.Send(kMtu);
  driver_.Timeout();
  EXPECT_EQ(cc_.fcwnd(), 0.01);
}

TEST_F(FalconTest, DelaysThatCannotBeTrustedChangeNothingButTheLevelCounts) {
  SetWindows(10);
  Ack(kMtu, Duration(0), 20);
  EXPECT_NEAR(cc_.fcwnd(), 10, 1e-9);
  EXPECT_NEAR(cc_.ncwnd(), 8, 1e-9);
}

TEST_F(FalconTest, AfterFourIdleRttsTheWindowsAreAtMostTheFirst) {
  SetWindows(120);
  cc_.OnResume(driver_.now(), Micros(48));
  EXPECT_NEAR(cc_.fcwnd(), 120, 1e-9);
  cc_.OnResume(driver_.now(), Micros(49));
  EXPECT_DOUBLE_EQ(cc_.fcwnd(), kBdp);
  EXPECT_DOUBLE_EQ(cc_.ncwnd(), kBdp);
}

}  // namespace
}  // namespace weir
