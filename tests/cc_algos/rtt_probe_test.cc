#include "cc_algos/rtt_probe.h"

#include <gtest/gtest.h>

#include "tests/support/cc_driver.h"

namespace weir {
namespace {

// Base RTT 12 us, so the target is 15 us at line rate and 16.2 us at none; ai is 500 Mb/s.
class RttProbeTest : public testing::Test {
 protected:
  void SetRate(Rate rate) { cc_.Restore({.window = Bytes::Max(), .rate = rate}); }
  Rate rate() const { return cc_.allowance().rate; }

  RttProbe cc_{kTestFlow, {}};
  CcDriver driver_{cc_};
};

TEST_F(RttProbeTest, StartsAtLineRateAndProbesOnceABaseRtt) {
  EXPECT_EQ(rate(), Gbps(100));
  EXPECT_EQ(cc_.probe_interval(), Micros(12));
}

TEST_F(RttProbeTest, TheTargetIsLinearInTheRate) {
  EXPECT_NEAR(cc_.target(), 15'000, 1e-6);
  SetRate(Gbps(50));
  EXPECT_NEAR(cc_.target(), 15'600, 1e-6);
  SetRate(Gbps(25));
  EXPECT_NEAR(cc_.target(), 15'900, 1e-6);
}

TEST_F(RttProbeTest, TheWindowIsWhatTheRateCarriesInTheTarget) {
  EXPECT_EQ(cc_.allowance().window, Bytes(187'500));  // 100 Gb/s * 15 us
  SetRate(Gbps(50));
  EXPECT_EQ(cc_.allowance().window, Bytes(97'500));  // 50 Gb/s * 15.6 us
}

TEST_F(RttProbeTest, AFastProbeRaisesTheRate) {
  SetRate(Gbps(50));
  driver_.Probe(Micros(15));
  EXPECT_EQ(rate(), Mbps(50'500));
}

// Half of the headroom is 13.5 us.
TEST_F(RttProbeTest, FromTheFifthProbeWithHardlyADelayOnTheIncreaseIsFivefold) {
  SetRate(Gbps(50));
  for (int i = 0; i < 9; ++i) driver_.Probe(Nanos(13'500));
  EXPECT_EQ(rate(), Mbps(54'500));
  SetRate(Gbps(50));
  for (int i = 0; i < 4; ++i) driver_.Probe(Micros(12));
  EXPECT_EQ(rate(), Gbps(52));
  driver_.Probe(Micros(12));
  EXPECT_EQ(rate(), Mbps(54'500));
  driver_.Probe(Micros(30));
  const Rate cut = rate();
  driver_.Probe(Micros(12));
  EXPECT_EQ(rate(), cut + Mbps(500));
}

TEST_F(RttProbeTest, ASlowProbeCutsInProportionToTheExcess) {
  SetRate(Gbps(50));
  driver_.Probe(Micros(20));  // 20 - 15.6
  EXPECT_NEAR(static_cast<double>(rate().count()), 50e9 * (1 - 0.8 * 4.4 / 20), 2);
}

TEST_F(RttProbeTest, AtTheTargetNothingIsCutAndNothingAdded) {
  SetRate(Gbps(50));
  driver_.Probe(Nanos(15'600));
  EXPECT_EQ(rate(), Gbps(50));
}

TEST_F(RttProbeTest, OneRttCutsOnceAndAtMostHalf) {
  driver_.Probe(Micros(100));
  EXPECT_EQ(rate(), Gbps(50));
  driver_.Advance(Micros(100) - Duration(1));
  driver_.Probe(Micros(100));
  EXPECT_EQ(rate(), Gbps(50));
  driver_.Advance(Duration(1));
  driver_.Probe(Micros(100));
  EXPECT_EQ(rate(), Gbps(25));
}

TEST_F(RttProbeTest, AcknowledgementsChangeNothing) {
  SetRate(Gbps(50));
  driver_.Round({.acked = Bytes(150'000), .marked = Bytes(150'000), .rtt = Micros(500)});
  EXPECT_EQ(rate(), Gbps(50));
}

TEST_F(RttProbeTest, ALossHalvesOnceARoundAndIsUndoneIfThereWasNone) {
  driver_.Send(KiB(64));
  driver_.Lose(KiB(4), LossCause::kOrder);
  EXPECT_EQ(rate(), Gbps(50));
  cc_.OnLoss({.now = driver_.now(), .round = driver_.round(), .lost = KiB(4)});
  EXPECT_EQ(rate(), Gbps(50));
  cc_.OnSpurious({.now = driver_.now(), .bytes = KiB(4)});
  EXPECT_EQ(rate(), Gbps(100));
}

TEST_F(RttProbeTest, TheRateHasAFloor) {
  for (int i = 0; i < 40; ++i) {
    driver_.Send(KiB(4));
    driver_.Timeout();
  }
  EXPECT_EQ(rate(), Mbps(100));
}

}  // namespace
}  // namespace weir
