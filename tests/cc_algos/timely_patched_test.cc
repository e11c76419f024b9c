#include "cc_algos/timely_patched.h"

#include <gtest/gtest.h>

#include "tests/support/cc_driver.h"

namespace weir {
namespace {

// Base RTT 12 us, so t_low is 18 us and t_high 60 us; delta is 100 Mb/s.
class TimelyPatchedTest : public testing::Test {
 protected:
  void SetRate(Rate rate) { cc_.Restore({.window = Bytes::Max(), .rate = rate}); }
  void Ack(Duration rtt) {
    driver_.Send(KiB(16));
    driver_.Advance(kTestFlow.base_rtt);  // so that a sample counts in full
    driver_.Ack(KiB(16), Bytes(0), rtt);
  }
  double rate() const { return static_cast<double>(cc_.allowance().rate.count()); }

  TimelyPatched cc_{kTestFlow, {.beta = 0.008}};
  CcDriver driver_{cc_};
};

TEST_F(TimelyPatchedTest, StartsAtLineRateWithOneAndAHalfBdps) {
  EXPECT_EQ(rate(), 100e9);
  EXPECT_EQ(cc_.allowance().window, Bytes(225'000));
}

TEST_F(TimelyPatchedTest, BelowTLowTheRateRises) {
  SetRate(Gbps(50));
  Ack(Micros(12));
  Ack(Micros(18) - Duration(1));
  EXPECT_EQ(rate(), 50.1e9);
}

// w = 1/2 where the RTT does not move: half a delta, and half the cut.
TEST_F(TimelyPatchedTest, AStandingRttCutsByHalfItsError) {
  SetRate(Gbps(50));
  Ack(Micros(27));
  Ack(Micros(27));  // error (27 - 18) / 18 = 1/2
  EXPECT_NEAR(rate(), 50e9 * (1 - 0.008 * 0.5 * 0.5) + 0.5 * 100e6, 2);
}

TEST_F(TimelyPatchedTest, AFastRiseCutsByAllOfItAndAddsNothing) {
  SetRate(Gbps(50));
  Ack(Micros(20));
  Ack(Micros(36));  // g = 0.875 * 16/12 > 1/4
  EXPECT_NEAR(rate(), 50e9 * (1 - 0.008 * 1), 2);
}

TEST_F(TimelyPatchedTest, AFastFallCutsNothingAndAddsDelta) {
  SetRate(Gbps(50));
  Ack(Micros(50));
  Ack(Micros(36));
  EXPECT_NEAR(rate(), 50.1e9, 2);
}

TEST_F(TimelyPatchedTest, BetweenTheWeightIsLinear) {
  SetRate(Gbps(50));
  Ack(Micros(36));
  Ack(Micros(36) + Nanos(1'200));  // g = 0.0875, w = 0.675, error 19.2/18
  EXPECT_NEAR(rate(), 50e9 * (1 - 0.008 * 0.675 * 19.2 / 18) + 0.325 * 100e6, 2);
}

TEST_F(TimelyPatchedTest, AboveTHighTheRateFallsByTheExcess) {
  SetRate(Gbps(50));
  Ack(Micros(80));
  Ack(Micros(75));
  EXPECT_NEAR(rate(), 50e9 * (1 - 0.8 * (1 - 60.0 / 75)), 2);
}

// R beta w e = delta (1 - w) with w = 1/2: at t_low (1 + delta / (beta R)) nothing changes.
TEST_F(TimelyPatchedTest, TheFixedPointOfOneRateStands) {
  SetRate(Gbps(50));
  Ack(Nanos(22'500));  // 18 us (1 + 0.1 / (0.008 * 50)) = 22.5 us
  Ack(Nanos(22'500));
  EXPECT_NEAR(rate(), 50e9, 2);
}

TEST_F(TimelyPatchedTest, ALossHalvesOnceARoundAndIsUndoneIfThereWasNone) {
  driver_.Send(KiB(64));
  driver_.Lose(KiB(4), LossCause::kOrder);
  EXPECT_EQ(rate(), 50e9);
  cc_.OnLoss({.now = driver_.now(), .round = driver_.round(), .lost = KiB(4)});
  EXPECT_EQ(rate(), 50e9);
  cc_.OnSpurious({.now = driver_.now(), .bytes = KiB(4)});
  EXPECT_EQ(rate(), 100e9);
}

TEST_F(TimelyPatchedTest, TheRateHasAFloor) {
  for (int i = 0; i < 40; ++i) {
    driver_.Send(KiB(4));
    driver_.Timeout();
  }
  EXPECT_EQ(rate(), 100e6);
}

}  // namespace
}  // namespace weir
