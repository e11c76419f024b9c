#include "cc_algos/strack.h"

#include <gtest/gtest.h>

#include "tests/support/cc_driver.h"

namespace weir {
namespace {

constexpr Bytes kMtu{4096};
constexpr double kBdp = 150'000.0 / 4096;  // 36.62 packets
constexpr double kTarget = 9'000;          // 0.75 * 12 us

// The delay average follows each sample at once; increase is 4 packets, guard 1.
class STrackTest : public testing::Test {
 protected:
  void SetWindow(double packets) { cc_.Restore({.window = Scaled(kMtu, packets)}); }
  void Ack(Bytes n, Bytes marked, Duration delay) {
    driver_.Send(n);
    driver_.Ack(n, marked, kTestFlow.base_rtt + delay);
  }

  STrack cc_{kTestFlow, {.delay_gain = 1}};
  CcDriver driver_{cc_};
};

TEST_F(STrackTest, StartsAtOneBdp) {
  EXPECT_DOUBLE_EQ(cc_.window(), kBdp);
  EXPECT_EQ(cc_.allowance().window, Bytes(150'000));
}

TEST_F(STrackTest, BelowTheTargetTheIncreaseIsInProportionToTheRoom) {
  SetWindow(10);
  Ack(10 * kMtu, Bytes(0), Duration(0));
  EXPECT_NEAR(cc_.window(), 14, 1e-9);
  Ack(14 * kMtu, Bytes(0), Micros(3));
  EXPECT_NEAR(cc_.window(), 14 + 4 * (kTarget - 3'000) / kTarget, 1e-9);
}

TEST_F(STrackTest, UnmarkedBetweenTheTargetAndTwiceItNothingChanges) {
  SetWindow(10);
  Ack(10 * kMtu, Bytes(0), Micros(9));
  Ack(10 * kMtu, Bytes(0), Micros(18));
  EXPECT_NEAR(cc_.window(), 10, 1e-9);
}

TEST_F(STrackTest, UnmarkedAndVeryLateAddsTheGuard) {
  SetWindow(10);
  Ack(10 * kMtu, Bytes(0), Micros(18) + Duration(1));
  EXPECT_NEAR(cc_.window(), 11, 1e-9);
}

TEST_F(STrackTest, MarkedTheCutIsInProportionToTheAverageExcess) {
  SetWindow(10);
  Ack(kMtu, kMtu, Micros(12));
  EXPECT_NEAR(cc_.window(), 10 * (1 - 0.8 * 3 / 12), 1e-9);
}

TEST_F(STrackTest, MarkedButFastIsLeftToTheLoadBalancer) {
  SetWindow(10);
  Ack(kMtu, kMtu, Micros(9));
  EXPECT_NEAR(cc_.window(), 10, 1e-9);
}

TEST_F(STrackTest, OneBaseRttCutsOnce) {
  SetWindow(10);
  Ack(kMtu, kMtu, Micros(12));
  const double after = cc_.window();
  driver_.Advance(Micros(12) - Duration(1));
  Ack(kMtu, kMtu, Micros(12));
  EXPECT_EQ(cc_.window(), after);
  driver_.Advance(Duration(1));
  Ack(kMtu, kMtu, Micros(12));
  EXPECT_LT(cc_.window(), after);
}

TEST_F(STrackTest, AVeryHighDelayResetsToWhatWasAchieved) {
  Ack(kMtu, Bytes(0), Micros(10));  // a period begins
  Ack(5 * kMtu, Bytes(0), Micros(10));
  driver_.Advance(Micros(12));
  Ack(kMtu, kMtu, Micros(30));
  EXPECT_NEAR(cc_.achieved(), 6, 1e-9);
  EXPECT_NEAR(cc_.window(), 6, 1e-9);
  EXPECT_EQ(cc_.counters()[1], 1u);
}

TEST_F(STrackTest, AWindowBelowWhatWasAchievedIsNotCut) {
  Ack(kMtu, Bytes(0), Micros(10));
  Ack(20 * kMtu, Bytes(0), Micros(10));
  driver_.Advance(Micros(12));
  SetWindow(10);
  Ack(kMtu, kMtu, Micros(12));
  EXPECT_NEAR(cc_.window(), 10, 1e-9);
}

TEST_F(STrackTest, ALossHalvesOnceABaseRttAndIsUndoneIfThereWasNone) {
  SetWindow(10);
  driver_.Send(2 * kMtu);
  driver_.Lose(kMtu, LossCause::kOrder);
  driver_.Lose(kMtu, LossCause::kOrder);
  EXPECT_NEAR(cc_.window(), 5, 1e-9);
  cc_.OnSpurious({.now = driver_.now(), .bytes = kMtu});
  EXPECT_NEAR(cc_.window(), 10, 1e-9);
}

TEST_F(STrackTest, TheSecondTimeoutInARowLeavesOnePacket) {
  SetWindow(10);
  driver_.Send(kMtu);
  driver_.Timeout();
  EXPECT_NEAR(cc_.window(), 5, 1e-9);
  driver_.Send(kMtu);
  driver_.Timeout();
  EXPECT_EQ(cc_.window(), 1);
}

TEST_F(STrackTest, SamplesThatCannotBeTrustedChangeNothing) {
  SetWindow(10);
  driver_.Send(2 * kMtu);
  driver_.Ack(kMtu, Bytes(0), Duration(0));
  driver_.Ack(kMtu, kMtu, Millis(1), Limit::kWindow, /*host_stall=*/true);
  EXPECT_NEAR(cc_.window(), 10, 1e-9);
}

TEST(STrackAverageTest, OneSampleWeighsAnEightieth) {
  STrack cc(kTestFlow, {});
  CcDriver driver(cc);
  driver.Send(2 * kMtu);
  driver.Ack(kMtu, Bytes(0), Micros(20));
  EXPECT_NEAR(cc.average_delay(), 8'000 / 80.0, 1e-9);
  cc.OnResume(driver.now(), Micros(49));
  EXPECT_EQ(cc.average_delay(), 0);
}

}  // namespace
}  // namespace weir
