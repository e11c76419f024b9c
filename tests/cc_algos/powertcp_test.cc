#include "cc_algos/powertcp.h"

#include <gtest/gtest.h>

#include "tests/support/hop_clock.h"

namespace weir {
namespace {

constexpr Bytes kMtu{4096};
constexpr double kBdp = 150'000;  // B tau, of 100 Gb/s and 12 us
constexpr double kBeta = 2048;    // half a packet, as 0.006 BDP are less

class PowerTcpTest : public testing::Test {
 protected:
  void Ack() { driver_.Ack(kMtu, Bytes(0), kTestFlow.base_rtt); }
  void FirstAck() {
    driver_.Send(100 * kMtu);
    Ack();
  }

  PowerTcp cc_{kTestFlow, {}};
  CcDriver driver_{cc_};
  HopClock hops_{driver_};
};

TEST_F(PowerTcpTest, StartsAtLineRateWithOneBdp) {
  EXPECT_EQ(cc_.allowance().window, Bytes(150'000 + 4095));
  EXPECT_EQ(cc_.allowance().rate, Gbps(100));
  EXPECT_DOUBLE_EQ(cc_.increase(), kBeta);
}

TEST_F(PowerTcpTest, PowerIsCurrentTimesVoltage) {
  FirstAck();
  // In one tau 150 kB were carried and the queue grew by 75 kB: the current is 1.5 B, and the
  // voltage 75 + 150 kB is 1.5 B tau.
  hops_.Pass(Micros(12), Bytes(150'000), Bytes(75'000));
  Ack();
  EXPECT_NEAR(cc_.power(), 1.5 * 1.5, 1e-12);
}

TEST_F(PowerTcpTest, ADrainingQueueHasLessPowerThanAStandingOne) {
  hops_[0].queue = Bytes(75'000);
  driver_.See({.telemetry = {&hops_[0], 2}});
  FirstAck();
  hops_.Pass(Micros(12), Bytes(150'000), Bytes(37'500));
  Ack();
  EXPECT_NEAR(cc_.power(), 0.75 * 1.25, 1e-12);  // current 150 - 37.5 kB a tau, voltage 187.5 kB
}

TEST_F(PowerTcpTest, TheCurrentIsAtLeastHalfTheLink) {
  FirstAck();
  hops_.Pass(Micros(12), Bytes(0), Bytes(0));
  Ack();
  EXPECT_NEAR(cc_.power(), 0.5, 1e-12);
}

TEST_F(PowerTcpTest, PowerIsSmoothedOverOneBaseRtt) {
  FirstAck();
  hops_.Pass(Micros(3), Bytes(0), Bytes(0));
  Ack();
  EXPECT_NEAR(cc_.power(), 0.75 * 1 + 0.25 * 0.5, 1e-12);
}

TEST_F(PowerTcpTest, TheWindowIsWhatMakesPowerOne) {
  FirstAck();
  const double before = cc_.window();
  hops_.Pass(Micros(12), Bytes(150'000), Bytes(75'000));
  Ack();
  const double first = 0.9 * (before / 2.25 + kBeta) + 0.1 * before;
  EXPECT_NEAR(cc_.window(), first, 1e-6);
  // Again in the same round: from the window of the last round, not from that of now.
  hops_.Pass(Micros(12), Bytes(112'500), Bytes(75'000));
  hops_[1].transmitted = Bytes(0);
  Ack();
  EXPECT_NEAR(cc_.power(), 0.75 * 1.5, 1e-12);
  EXPECT_NEAR(cc_.window(), 0.9 * (before / 1.125 + kBeta) + 0.1 * first, 1e-6);
}

TEST_F(PowerTcpTest, ANewRoundStartsFromTheWindowOfItsBeginning) {
  FirstAck();
  hops_.Pass(Micros(12), Bytes(150'000), Bytes(75'000));
  Ack();
  driver_.Ack(driver_.in_flight(), Bytes(0), kTestFlow.base_rtt);
  driver_.Send(100 * kMtu);
  Ack();  // no new record: the round begins
  const double window = cc_.window();
  EXPECT_LT(window, kBdp);
  hops_.Pass(Micros(12), Bytes(150'000), Bytes(75'000));
  Ack();
  EXPECT_NEAR(cc_.power(), 1.5, 1e-12);  // the queue no longer grows
  EXPECT_NEAR(cc_.window(), 0.9 * (window / 1.5 + kBeta) + 0.1 * window, 1e-6);
}

TEST_F(PowerTcpTest, ALossHalvesOnceARoundAndIsUndoneIfThereWasNone) {
  FirstAck();
  driver_.Lose(kMtu, LossCause::kOrder);
  driver_.Lose(kMtu, LossCause::kOrder);
  EXPECT_EQ(cc_.window(), kBdp / 2);
  cc_.OnSpurious({.now = driver_.now(), .bytes = kMtu});
  EXPECT_EQ(cc_.window(), kBdp);
}

TEST_F(PowerTcpTest, TheWindowHasAFloor) {
  for (int i = 0; i < 100; ++i) {
    driver_.Send(kMtu);
    driver_.Timeout();
  }
  EXPECT_EQ(cc_.window(), 150);
  EXPECT_EQ(cc_.allowance().rate, Mbps(100));
}

TEST_F(PowerTcpTest, FourIdleRttsForgetTheRecords) {
  FirstAck();
  hops_.Pass(Micros(12), Bytes(0), Bytes(0));
  Ack();
  cc_.OnResume(driver_.now(), Micros(48));
  EXPECT_EQ(cc_.power(), 0.5);
  cc_.OnResume(driver_.now(), Micros(49));
  hops_.Pass(Micros(12), Bytes(0), Bytes(0));
  Ack();
  EXPECT_EQ(cc_.power(), 1);
}

}  // namespace
}  // namespace weir
