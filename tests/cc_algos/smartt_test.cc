#include "cc_algos/smartt.h"

#include <gtest/gtest.h>

#include "tests/support/cc_driver.h"

namespace weir {
namespace {

constexpr Bytes kMtu{4096};
constexpr double kPacket = 4096;
constexpr double kBdp = 150'000;

// Base RTT 12 us, target 18 us, so mi = 2. The average of marks follows each packet at once.
class SmarttTest : public testing::Test {
 protected:
  void SetWindow(Bytes window) { cc_.Restore({.window = window}); }
  void Ack(Bytes n, Bytes marked, Duration rtt) {
    driver_.Send(n);
    driver_.Ack(n, marked, rtt);
  }

  Smartt cc_{kTestFlow, {.mark_gain = 1}};
  CcDriver driver_{cc_};
};

TEST_F(SmarttTest, StartsAtItsLargestWindow) {
  EXPECT_EQ(cc_.allowance().window, Bytes(187'500));  // 1.25 BDP
}

TEST_F(SmarttTest, UnmarkedBelowTheTargetAddsInProportionAndFairly) {
  SetWindow(10 * kMtu);
  Ack(10 * kMtu, Bytes(0), Micros(16));
  EXPECT_NEAR(cc_.window(), 10 * kPacket + 2 * (2.0 / 16) * kPacket + 0.25 * kPacket, 1e-6);
}

TEST_F(SmarttTest, TheProportionalIncreaseIsAtMostWhatWasAcknowledged) {
  SetWindow(kMtu);
  Ack(kMtu, Bytes(0), Nanos(13'001));  // 2 * 4999/13001 n = 0.77 n
  EXPECT_NEAR(cc_.window(), kPacket * (1 + 2 * 4999.0 / 13001 + 0.25), 1e-6);
  Smartt eager(kTestFlow, {.target = 16, .mark_gain = 1});
  CcDriver driver(eager);
  eager.Restore({.window = kMtu});
  driver.Send(kMtu);
  driver.Ack(kMtu, Bytes(0), Micros(14));  // mi = 1/15, (192 - 14)/14 mi = 0.85
  EXPECT_NEAR(eager.window(), kPacket * (1 + 178.0 / 14 / 15 + 0.25), 1e-6);
}

TEST_F(SmarttTest, UnmarkedAboveTheTargetAddsFairlyOnly) {
  SetWindow(10 * kMtu);
  Ack(10 * kMtu, Bytes(0), Micros(18));
  EXPECT_NEAR(cc_.window(), 10.25 * kPacket, 1e-6);
}

TEST_F(SmarttTest, MarkedBelowTheTargetTakesInProportionToTheWindow) {
  SetWindow(Bytes(75'000));
  Ack(kMtu, kMtu, Micros(16));
  EXPECT_NEAR(cc_.window(), 75'000 - 0.5 * 75'000 / kBdp * kPacket, 1e-6);
}

TEST_F(SmarttTest, MarkedAboveTheTargetTakesTheExcessToo) {
  SetWindow(Bytes(75'000));
  Ack(kMtu, kMtu, Micros(24));  // (24 - 18)/24
  EXPECT_NEAR(cc_.window(), 75'000 - 0.5 * 0.5 * kPacket - 0.25 * kPacket, 1e-6);
}

TEST(SmarttWaitTest, FewMarksTakeNothing) {
  Smartt cc(kTestFlow, {});
  CcDriver driver(cc);
  cc.Restore({.window = Bytes(75'000)});
  driver.Send(3 * kMtu);
  driver.Ack(kMtu, kMtu, Micros(24));  // the average is 1/8
  driver.Ack(kMtu, kMtu, Micros(24));  // 0.234
  EXPECT_EQ(cc.window(), 75'000);
  driver.Ack(kMtu, kMtu, Micros(24));  // 0.33 > 1/4
  EXPECT_NEAR(cc.marks(), 1 - 0.875 * 0.875 * 0.875, 1e-12);
  EXPECT_LT(cc.window(), 75'000);
}

TEST_F(SmarttTest, AWindowAtTheBaseRttBeginsFastIncrease) {
  SetWindow(4 * kMtu);
  Ack(4 * kMtu, Bytes(0), Micros(12));  // a window, but not more: 2 (6/12) + 1/4
  EXPECT_NEAR(cc_.window(), 5.25 * kPacket, 1e-6);
  Ack(2 * kMtu, Bytes(0), Micros(12));
  EXPECT_NEAR(cc_.window(), 7.25 * kPacket, 1e-6);
  Ack(kMtu, Bytes(0), Micros(13) - Duration(1));
  EXPECT_NEAR(cc_.window(), 8.25 * kPacket, 1e-6);
  Ack(kMtu, Bytes(0), Micros(13));  // a delay: it ends
  const double slower = cc_.window();
  EXPECT_LT(slower, 9 * kPacket);
}

TEST_F(SmarttTest, ATrimCallsForQuickAdaptAtTheEndOfThePeriod) {
  SetWindow(Bytes(100'000));
  Ack(kMtu, Bytes(0), Micros(18));  // a period of 18 us begins
  const double before = cc_.window();
  driver_.Send(20 * kMtu);
  driver_.Ack(5 * kMtu, Bytes(0), Micros(18));
  const double grown = cc_.window();
  EXPECT_GT(grown, before);
  driver_.Lose(kMtu, LossCause::kTrim);
  EXPECT_NEAR(cc_.window(), grown - kPacket, 1e-6);
  driver_.Advance(Micros(18));
  driver_.Ack(4 * kMtu, 4 * kMtu, Micros(18));
  EXPECT_NEAR(cc_.window(), 0.8 * 9 * kPacket, 1e-6);  // 5 and 4 packets arrived
  EXPECT_EQ(cc_.counters()[0], 1u);
  // What is in flight, ten packets, is ignored.
  driver_.Ack(5 * kMtu, 5 * kMtu, Micros(50));
  driver_.Lose(kMtu, LossCause::kTrim);
  driver_.Ack(4 * kMtu, 4 * kMtu, Micros(50));
  EXPECT_NEAR(cc_.window(), 0.8 * 9 * kPacket, 1e-6);
  Ack(kMtu, kMtu, Micros(50));
  EXPECT_LT(cc_.window(), 0.8 * 9 * kPacket);
}

TEST_F(SmarttTest, ALossThatWasNoneGivesItsBytesBack) {
  SetWindow(10 * kMtu);
  driver_.Send(kMtu);
  driver_.Lose(kMtu, LossCause::kTime);
  EXPECT_NEAR(cc_.window(), 9 * kPacket, 1e-6);
  cc_.OnSpurious({.now = driver_.now(), .bytes = kMtu});
  EXPECT_NEAR(cc_.window(), 10 * kPacket, 1e-6);
}

TEST_F(SmarttTest, ATimeoutTakesWhatWasInFlight) {
  SetWindow(10 * kMtu);
  driver_.Send(4 * kMtu);
  driver_.Timeout();
  EXPECT_NEAR(cc_.window(), 6 * kPacket, 1e-6);
}

TEST_F(SmarttTest, SamplesThatCannotBeTrustedChangeNothing) {
  SetWindow(10 * kMtu);
  Ack(kMtu, Bytes(0), Duration(0));
  driver_.Send(kMtu);
  driver_.Ack(kMtu, kMtu, Millis(1), Limit::kWindow, /*host_stall=*/true);
  EXPECT_EQ(cc_.window(), 10 * kPacket);
}

}  // namespace
}  // namespace weir
