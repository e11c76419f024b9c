#include "cc_algos/bbr.h"

#include <gtest/gtest.h>

#include "tests/support/cc_driver.h"

namespace weir {
namespace {

constexpr Bytes kMtu{4096};
constexpr double kLine = 12.5;  // bytes a nanosecond, 100 Gb/s
using State = Bbr::State;

class BbrTest : public testing::Test {
 protected:
  // One round in which so much is delivered, in one acknowledgement.
  void Round(Bytes n, Duration rtt = Micros(12), Limit limit = Limit::kWindow) {
    driver_.Send(n);
    driver_.Advance(rtt);
    driver_.Ack(n, Bytes(0), rtt, limit);
  }
  // Until the pipe is full at 50 Gb/s and the queue drained.
  void FillThePipe() {
    for (int i = 0; i < 5; ++i) Round(Bytes(75'000));
    ASSERT_EQ(cc_.state(), State::kProbeBandwidth);
  }
  double rate() const { return static_cast<double>(cc_.allowance().rate.count()); }

  Bbr cc_{kTestFlow, {}};
  CcDriver driver_{cc_};
};

TEST_F(BbrTest, StartsAtLineRateWithOneBdp) {
  EXPECT_EQ(cc_.allowance().window, Bytes(150'000));
  EXPECT_EQ(cc_.allowance().rate, Gbps(100));
}

TEST_F(BbrTest, TheDeliveryRateIsThatOfARound) {
  Round(Bytes(75'000));  // begins the first
  EXPECT_EQ(cc_.bandwidth(), 0);
  Round(Bytes(75'000));
  EXPECT_DOUBLE_EQ(cc_.bandwidth(), 6.25);            // 75 kB in 12 us
  EXPECT_EQ(cc_.allowance().window, Bytes(216'374));  // 2.885 * 75 kB, rounded down
  EXPECT_NEAR(rate(), 2.885 * 50e9, 10);
}

TEST_F(BbrTest, TheDeliveryRateIsAtMostTheLineRate) {
  Round(Bytes(1000));
  Round(Bytes(1'000'000));
  EXPECT_DOUBLE_EQ(cc_.bandwidth(), kLine);
}

TEST_F(BbrTest, TheLargestOfTenRoundsCounts) {
  Round(Bytes(100'000));
  Round(Bytes(100'000));
  for (int i = 0; i < 9; ++i) Round(Bytes(50'000));
  EXPECT_DOUBLE_EQ(cc_.bandwidth(), 100.0 / 12);
  Round(Bytes(50'000));
  EXPECT_DOUBLE_EQ(cc_.bandwidth(), 50.0 / 12);
}

TEST_F(BbrTest, ARoundLimitedByTheApplicationCountsOnlyIfItIsFaster) {
  Round(Bytes(75'000));
  Round(Bytes(75'000));
  for (int i = 0; i < 12; ++i) Round(Bytes(1'000), Micros(12), Limit::kApplication);
  EXPECT_DOUBLE_EQ(cc_.bandwidth(), 6.25);
  EXPECT_EQ(cc_.counters()[1], 12u);
  Round(Bytes(90'000), Micros(12), Limit::kApplication);
  EXPECT_DOUBLE_EQ(cc_.bandwidth(), 7.5);
}

TEST_F(BbrTest, StartupLastsWhileRoundsGrowByAQuarter) {
  Round(Bytes(20'000));
  Round(Bytes(20'000));
  Round(Bytes(26'000));
  Round(Bytes(36'000));
  Round(Bytes(36'000));
  Round(Bytes(36'000));  // the second without growth
  EXPECT_EQ(cc_.state(), State::kStartup);
  driver_.Send(Bytes(100'000));
  driver_.Advance(Micros(12));
  driver_.Ack(Bytes(36'000), Bytes(0), Micros(12));
  EXPECT_EQ(cc_.state(), State::kDrain);
  EXPECT_NEAR(cc_.pacing_gain(), 1 / 2.885, 1e-12);
  driver_.Ack(Bytes(27'999), Bytes(0), Micros(12));  // 36001 are left, and 36000 a delivery rate's
  EXPECT_EQ(cc_.state(), State::kDrain);
  driver_.Ack(Bytes(2), Bytes(0), Micros(12));
  EXPECT_EQ(cc_.state(), State::kProbeBandwidth);
}

TEST_F(BbrTest, TheCycleProbesGivesBackAndWaits) {
  FillThePipe();
  EXPECT_EQ(cc_.allowance().window, Bytes(150'000));  // 2 * 75 kB
  driver_.Send(Bytes(140'000));
  const auto next = [&] {
    driver_.Advance(Micros(12) + Duration(1));
    driver_.Send(Bytes(1));
    driver_.Ack(Bytes(1), Bytes(0), Micros(12));
  };
  while (cc_.pacing_gain() != 1.25) next();
  EXPECT_NEAR(rate(), 1.25 * 50e9, 10);
  next();
  EXPECT_EQ(cc_.pacing_gain(), 0.75);
  for (int i = 0; i < 6; ++i) {
    next();
    EXPECT_EQ(cc_.pacing_gain(), 1);
  }
  next();
  EXPECT_EQ(cc_.pacing_gain(), 1.25);
}

TEST_F(BbrTest, ProbingLastsUntilAQuarterMoreIsInFlightOrSomethingIsLost) {
  FillThePipe();
  driver_.Send(Bytes(90'000));  // less than 1.25 * 75 kB
  const auto next = [&] {
    driver_.Advance(Micros(12) + Duration(1));
    driver_.Send(kMtu);
    driver_.Ack(kMtu, Bytes(0), Micros(12));
  };
  while (cc_.pacing_gain() != 1.25) next();
  next();
  EXPECT_EQ(cc_.pacing_gain(), 1.25);
  driver_.Lose(Bytes(1), LossCause::kOrder);
  next();
  EXPECT_EQ(cc_.pacing_gain(), 0.75);
}

// 1000 base RTTs are 12 ms, 20 are 240 us.
TEST_F(BbrTest, ARttNotSeenForLongIsProbedFor) {
  FillThePipe();
  for (int i = 0; i < 800; ++i) Round(Bytes(75'000), Micros(15));
  EXPECT_EQ(cc_.state(), State::kProbeBandwidth);
  EXPECT_EQ(cc_.min_rtt(), Micros(12));
  Round(Bytes(75'000), Micros(15));  // 801 * 15 us
  EXPECT_EQ(cc_.state(), State::kProbeRtt);
  EXPECT_EQ(cc_.allowance().window, 4 * kMtu);
  Round(4 * kMtu, Micros(12));
  EXPECT_EQ(cc_.min_rtt(), Micros(12));
  for (int i = 0; i < 18; ++i) Round(4 * kMtu, Micros(12));
  EXPECT_EQ(cc_.state(), State::kProbeRtt);
  Round(4 * kMtu, Micros(12));
  EXPECT_EQ(cc_.state(), State::kProbeBandwidth);
}

TEST_F(BbrTest, ATimeoutLeavesFourPacketsUntilARoundEnds) {
  FillThePipe();
  driver_.Send(kMtu);
  driver_.Timeout();
  EXPECT_EQ(cc_.allowance().window, 4 * kMtu);
  Round(4 * kMtu);
  EXPECT_EQ(cc_.allowance().window, Bytes(150'000));
}

TEST_F(BbrTest, FourIdleRttsStartAnew) {
  FillThePipe();
  cc_.OnResume(driver_.now(), Micros(48));
  EXPECT_EQ(cc_.state(), State::kProbeBandwidth);
  cc_.OnResume(driver_.now(), Micros(49));
  EXPECT_EQ(cc_.state(), State::kStartup);
  EXPECT_EQ(cc_.bandwidth(), 0);
  EXPECT_EQ(cc_.allowance().window, Bytes(150'000));
}

}  // namespace
}  // namespace weir
