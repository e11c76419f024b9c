#include "cc_algos/hpcc.h"

#include <gtest/gtest.h>

#include "tests/support/hop_clock.h"

namespace weir {
namespace {

constexpr Bytes kMtu{4096};
constexpr double kBdp = 150'000;  // 100 Gb/s * 12 us
constexpr double kIncrease = kBdp * 0.05 / 16;

class HpccTest : public testing::Test {
 protected:
  // An acknowledgement of one packet, in the same round unless one ends.
  void Ack() { driver_.Ack(kMtu, Bytes(0), kTestFlow.base_rtt); }
  void FirstAck() {
    driver_.Send(100 * kMtu);
    Ack();
  }
  // Acknowledges all that was in flight, so that the next acknowledgement begins a round.
  void EndRound() {
    driver_.Ack(driver_.in_flight() - Bytes(1), Bytes(0), kTestFlow.base_rtt);
    driver_.Send(100 * kMtu);
  }
  void SetWindow(Bytes window) { cc_.Restore({.window = window}); }

  Hpcc cc_{kTestFlow, {}};
  CcDriver driver_{cc_};
  HopClock hops_{driver_};
};

TEST_F(HpccTest, StartsAtLineRateWithOneBdp) {
  EXPECT_EQ(cc_.allowance().window, Bytes(150'000 + 4095));
  EXPECT_EQ(cc_.allowance().rate, Gbps(100));
  EXPECT_NEAR(cc_.law().increase(), kIncrease, 1e-9);
}

TEST_F(HpccTest, TheFirstAcknowledgementIsOnlyRemembered) {
  FirstAck();
  EXPECT_EQ(cc_.utilisation(), 1);
  EXPECT_EQ(cc_.law().window(), kBdp);
}

TEST_F(HpccTest, UtilisationIsWhatWasCarriedAndWhatWaits) {
  FirstAck();
  hops_.Pass(Micros(12), Bytes(75'000), Bytes(30'000));
  Ack();
  EXPECT_NEAR(cc_.utilisation(), 0.5, 1e-12);  // 75 of 150 kB; the queue was empty before
  hops_.Pass(Micros(12), Bytes(75'000), Bytes(15'000));
  Ack();
  EXPECT_NEAR(cc_.utilisation(), 0.5 + 15.0 / 150, 1e-12);  // the smaller of 30 and 15 kB
}

TEST_F(HpccTest, AShortIntervalWeighsLittle) {
  FirstAck();
  hops_.Pass(Micros(3), Bytes(37'500), Bytes(0));  // 100 Gb/s
  Ack();
  EXPECT_NEAR(cc_.utilisation(), 1, 1e-12);
  hops_.Pass(Micros(3), Bytes(0), Bytes(0));
  Ack();
  EXPECT_NEAR(cc_.utilisation(), 0.75, 1e-12);  // 3/4 of 1 and 1/4 of 0
}

TEST_F(HpccTest, TheBusiestHopCounts) {
  FirstAck();
  hops_[1].transmitted += Bytes(120'000);
  hops_.Pass(Micros(12), Bytes(75'000), Bytes(0));
  Ack();
  EXPECT_NEAR(cc_.utilisation(), 0.8, 1e-12);
}

TEST_F(HpccTest, AboveEtaTheWindowIsSetToWhatMakesItEta) {
  FirstAck();
  hops_.Pass(Micros(12), Bytes(150'000), Bytes(135'000));
  Ack();
  hops_.Pass(Micros(12), Bytes(150'000), Bytes(135'000));  // 1 + 0.9
  Ack();
  EXPECT_NEAR(cc_.law().window(), kBdp / (1.9 / 0.95) + kIncrease, 1e-6);
  EXPECT_EQ(cc_.allowance().window, Bytes(75'468 + 4095));
  EXPECT_EQ(cc_.allowance().rate, Rate(50'312'500'000));  // 75468.75 B / 12 us
}

TEST_F(HpccTest, AcknowledgementsOfOneRoundDoNotCompound) {
  FirstAck();
  hops_.Pass(Micros(12), Bytes(150'000), Bytes(135'000));
  Ack();
  for (int i = 0; i < 5; ++i) {
    hops_.Pass(Micros(12), Bytes(150'000), Bytes(135'000));
    Ack();
    EXPECT_NEAR(cc_.law().window(), kBdp / 2 + kIncrease, 1e-6);
    EXPECT_EQ(cc_.law().reference(), kBdp);
  }
  EndRound();
  EXPECT_NEAR(cc_.law().reference(), kBdp, 1e-6);  // that was still an acknowledgement of the round
  hops_.Pass(Micros(12), Bytes(150'000), Bytes(135'000));
  Ack();
  EXPECT_NEAR(cc_.law().reference(), kBdp / 2 + kIncrease, 1e-6);
}

TEST_F(HpccTest, BelowEtaEachRoundAddsAndTheSixthMultiplies) {
  SetWindow(Bytes(50'000));
  FirstAck();
  hops_.Pass(Micros(12), Bytes(75'000), Bytes(0));
  Ack();
  double window = 50'000;
  for (int round = 1; round <= 5; ++round) {
    EndRound();
    hops_.Pass(Micros(12), Bytes(75'000), Bytes(0));
    Ack();
    window += kIncrease;
    EXPECT_NEAR(cc_.law().reference(), window, 1e-6) << round;
  }
  EndRound();
  hops_.Pass(Micros(12), Bytes(75'000), Bytes(0));
  Ack();
  window = window / (0.5 / 0.95) + kIncrease;
  EXPECT_NEAR(cc_.law().reference(), window, 1e-6);
  EndRound();
  hops_.Pass(Micros(12), Bytes(75'000), Bytes(0));
  Ack();
  EXPECT_NEAR(cc_.law().reference(), window + kIncrease, 1e-6);  // stage 0 again
}

// T-HPCC-5
TEST_F(HpccTest, AHopThatChangedOrDidNotMoveIsNotMeasured) {
  FirstAck();
  Ack();  // the same stamps
  EXPECT_EQ(cc_.utilisation(), 1);
  hops_[0].hop = 7;
  hops_[1].hop = 8;
  hops_.Pass(Micros(12), Bytes(0), Bytes(0));
  Ack();
  EXPECT_EQ(cc_.utilisation(), 1);
  hops_.Pass(Micros(12), Bytes(0), Bytes(0));
  Ack();
  EXPECT_EQ(cc_.utilisation(), 0);
}

// T-HPCC-5: a switch that started again counts from 0.
TEST_F(HpccTest, ACounterThatWentBackIsNoTraffic) {
  hops_[0].transmitted = Bytes(1'000'000'000);
  FirstAck();
  hops_[0].transmitted = Bytes(0);
  hops_.Pass(Micros(12), Bytes(1000), Bytes(0));
  Ack();
  EXPECT_EQ(cc_.utilisation(), 0);
}

TEST_F(HpccTest, ALossHalvesOnceARoundAndIsUndoneIfThereWasNone) {
  FirstAck();
  driver_.Lose(kMtu, LossCause::kOrder);
  driver_.Lose(kMtu, LossCause::kOrder);
  EXPECT_EQ(cc_.law().window(), kBdp / 2);
  cc_.OnSpurious({.now = driver_.now(), .bytes = kMtu});
  EXPECT_EQ(cc_.law().reference(), kBdp);
}

TEST_F(HpccTest, EachTimeoutHalves) {
  for (int i = 1; i <= 3; ++i) {
    driver_.Send(kMtu);
    driver_.Timeout();
    EXPECT_EQ(cc_.law().window(), kBdp / (1 << i));
  }
}

TEST_F(HpccTest, TheWindowHasAFloor) {
  for (int i = 0; i < 100; ++i) {
    driver_.Send(kMtu);
    driver_.Timeout();
  }
  EXPECT_EQ(cc_.law().window(), 150);
  EXPECT_EQ(cc_.allowance().rate, Mbps(100));
}

TEST_F(HpccTest, FourIdleRttsForgetTheRecords) {
  FirstAck();
  hops_.Pass(Micros(12), Bytes(0), Bytes(0));
  Ack();
  EXPECT_EQ(cc_.utilisation(), 0);
  cc_.OnResume(driver_.now(), Micros(48));
  EXPECT_EQ(cc_.utilisation(), 0);
  cc_.OnResume(driver_.now(), Micros(49));
  EXPECT_EQ(cc_.utilisation(), 1);
  hops_.Pass(Micros(12), Bytes(0), Bytes(0));
  Ack();
  EXPECT_EQ(cc_.utilisation(), 1);
}

}  // namespace
}  // namespace weir
