#include "cc_algos/hpcc_pint.h"

#include <gtest/gtest.h>

#include "tests/support/cc_driver.h"

namespace weir {
namespace {

constexpr Bytes kMtu{4096};
constexpr double kBdp = 150'000;  // 100 Gb/s * 12 us
constexpr double kIncrease = kBdp * 0.05 / 16;

class HpccPintTest : public testing::Test {
 protected:
  void Ack(double load) {
    driver_.See({.path_load = load});
    driver_.Ack(kMtu, Bytes(0), kTestFlow.base_rtt);
  }
  void StartRound() { driver_.Send(100 * kMtu); }
  void EndRound(double load) {
    driver_.See({.path_load = load});
    driver_.Ack(driver_.in_flight() - Bytes(1), Bytes(0), kTestFlow.base_rtt);
    StartRound();
  }

  HpccPint cc_{kTestFlow, {}};
  CcDriver driver_{cc_};
};

TEST_F(HpccPintTest, AboveEtaTheWindowIsSetToWhatMakesItEta) {
  StartRound();
  Ack(1.9);
  EXPECT_NEAR(cc_.law().window(), kBdp / 2 + kIncrease, 1e-6);
  Ack(1.9);
  EXPECT_NEAR(cc_.law().window(), kBdp / 2 + kIncrease, 1e-6);  // from the same reference
  EXPECT_EQ(cc_.law().reference(), kBdp);
  EndRound(1.9);
  Ack(1.9);
  EXPECT_NEAR(cc_.law().reference(), kBdp / 2 + kIncrease, 1e-6);
}

TEST_F(HpccPintTest, BelowEtaEachRoundAdds) {
  cc_.Restore({.window = Bytes(50'000)});
  StartRound();
  Ack(0.5);
  for (int round = 1; round <= 5; ++round) {
    EndRound(0.5);
    Ack(0.5);
    EXPECT_NEAR(cc_.law().reference(), 50'000 + round * kIncrease, 1e-6);
  }
}

TEST_F(HpccPintTest, ALoadThatWasNotToldChangesNothing) {
  cc_.Restore({.window = Bytes(50'000)});
  StartRound();
  Ack(0);
  EndRound(0);
  Ack(0);
  EXPECT_EQ(cc_.law().window(), 50'000);
}

TEST_F(HpccPintTest, LossesAndTimeoutsHalve) {
  StartRound();
  Ack(0.5);
  driver_.Lose(kMtu, LossCause::kOrder);
  driver_.Lose(kMtu, LossCause::kOrder);
  EXPECT_EQ(cc_.law().window(), kBdp / 2);
  driver_.Timeout();
  EXPECT_EQ(cc_.law().window(), kBdp / 4);
}

TEST_F(HpccPintTest, AfterFourIdleRttsTheFirstAcknowledgementBeginsTheRound) {
  StartRound();
  Ack(0.5);
  driver_.Ack(driver_.in_flight(), Bytes(0), kTestFlow.base_rtt);
  cc_.OnResume(driver_.now(), Micros(49));
  StartRound();
  Ack(1.9);  // a new round of the connection, but the first that is measured
  EXPECT_EQ(cc_.law().reference(), kBdp);
}

}  // namespace
}  // namespace weir
