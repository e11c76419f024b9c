#include "cc_algos/timely.h"

#include <gtest/gtest.h>

#include "tests/support/cc_driver.h"

namespace weir {
namespace {

// Base RTT 12 us, so t_low is 18 us and t_high 60 us; delta is 100 Mb/s.
class TimelyTest : public testing::Test {
 protected:
  void SetRate(Rate rate) { cc_.Restore({.window = Bytes::Max(), .rate = rate}); }
  void Ack(Duration rtt) {
    driver_.Send(KiB(16));
    driver_.Advance(kTestFlow.base_rtt);  // so that a sample counts in full
    driver_.Ack(KiB(16), Bytes(0), rtt);
  }
  Rate rate() const { return cc_.allowance().rate; }

  Timely cc_{kTestFlow, {}};
  CcDriver driver_{cc_};
};

TEST_F(TimelyTest, StartsAtLineRateWithOneAndAHalfBdps) {
  EXPECT_EQ(rate(), Gbps(100));
  EXPECT_EQ(cc_.allowance().window, Bytes(225'000));
}

TEST_F(TimelyTest, TheFirstRttIsOnlyRemembered) {
  SetRate(Gbps(50));
  Ack(Micros(100));
  EXPECT_EQ(rate(), Gbps(50));
}

TEST_F(TimelyTest, TheGradientIsTheAverageDifferenceOverTheBaseRtt) {
  Ack(Micros(20));
  Ack(Micros(32));
  EXPECT_NEAR(cc_.gradient(), 0.875, 1e-12);  // 0.875 * 12 us / 12 us
  Ack(Micros(32));
  EXPECT_NEAR(cc_.gradient(), 0.125 * 0.875, 1e-12);
}

TEST_F(TimelyTest, BelowTLowTheRateRisesWhateverTheGradient) {
  SetRate(Gbps(50));
  Ack(Micros(12));
  Ack(Micros(18) - Duration(1));
  EXPECT_EQ(rate(), Gbps(50) + Mbps(100));
}

TEST_F(TimelyTest, ARisingRttCutsByItsGradient) {
  SetRate(Gbps(50));
  Ack(Micros(30));
  Ack(Micros(33));  // g = 0.875 * 3/12 = 0.21875
  EXPECT_EQ(rate(), Scaled(Gbps(50), 1 - 0.8 * 0.21875));
}

TEST_F(TimelyTest, OneCutTakesAtMostHalf) {
  SetRate(Gbps(50));
  Ack(Micros(20));
  Ack(Micros(60));  // g = 2.9
  EXPECT_EQ(rate(), Gbps(25));
}

TEST_F(TimelyTest, ASampleOfAThirdOfABaseRttCountsForAThird) {
  SetRate(Gbps(50));
  Ack(Micros(12));
  driver_.Send(KiB(16));
  driver_.Advance(Micros(4));
  driver_.Ack(KiB(16), Bytes(0), Micros(12));
  EXPECT_NEAR(static_cast<double>(rate().count()), 50e9 + 100e6 / 3, 1);
}

TEST_F(TimelyTest, AboveTHighTheRateFallsByTheExcess) {
  SetRate(Gbps(50));
  Ack(Micros(80));
  Ack(Micros(75));  // falling, yet above 60 us
  EXPECT_EQ(rate(), Scaled(Gbps(50), 1 - 0.8 * (1 - 60.0 / 75)));
}

TEST_F(TimelyTest, FromTheFifthSampleWithoutARiseOnTheIncreaseIsFivefold) {
  SetRate(Gbps(50));
  Ack(Micros(30));
  for (int i = 1; i <= 4; ++i) {
    Ack(Micros(30));
    EXPECT_EQ(rate(), Gbps(50) + i * Mbps(100));
  }
  Ack(Micros(30));
  EXPECT_EQ(rate(), Gbps(50) + Mbps(900));
  Ack(Micros(31));  // a rise
  const Rate cut = rate();
  Ack(Micros(24));
  EXPECT_EQ(rate(), cut + Mbps(100));
}

TEST_F(TimelyTest, SamplesThatCannotBeTrustedChangeNothing) {
  SetRate(Gbps(50));
  Ack(Micros(12));
  Ack(Duration(0));
  driver_.Send(KiB(16));
  driver_.Ack(KiB(16), Bytes(0), Millis(1), Limit::kWindow, /*host_stall=*/true);
  EXPECT_EQ(rate(), Gbps(50));
  EXPECT_EQ(cc_.gradient(), 0);
}

TEST_F(TimelyTest, ALossHalvesOnceARoundAndIsUndoneIfThereWasNone) {
  driver_.Send(KiB(64));
  driver_.Lose(KiB(4), LossCause::kOrder);
  EXPECT_EQ(rate(), Gbps(50));
  cc_.OnLoss({.now = driver_.now(), .round = driver_.round(), .lost = KiB(4)});
  EXPECT_EQ(rate(), Gbps(50));
  cc_.OnSpurious({.now = driver_.now(), .bytes = KiB(4)});
  EXPECT_EQ(rate(), Gbps(100));
}

TEST_F(TimelyTest, TheRateHasAFloor) {
  for (int i = 0; i < 40; ++i) {
    driver_.Send(KiB(4));
    driver_.Timeout();
  }
  EXPECT_EQ(rate(), Mbps(100));
}

TEST_F(TimelyTest, FourIdleRttsForgetTheGradient) {
  Ack(Micros(20));
  Ack(Micros(32));
  cc_.OnResume(driver_.now(), Micros(48));
  EXPECT_GT(cc_.gradient(), 0);
  cc_.OnResume(driver_.now(), Micros(49));
  const Rate before = rate();
  Ack(Micros(32));
  EXPECT_EQ(cc_.gradient(), 0);
  EXPECT_EQ(rate(), before);
}

}  // namespace
}  // namespace weir
