#include "cc_algos/ndp.h"

#include <gtest/gtest.h>

#include "tests/support/cc_driver.h"
#include "tests/support/grants.h"

namespace weir {
namespace {

constexpr Bytes kMtu{4096};
constexpr Bytes kBdp{150'000};

class NdpTest : public testing::Test {
 protected:
  Bytes pulls() const { return cc_.allowance().credit; }

  Ndp cc_{kTestFlow, {}};
  CcDriver driver_{cc_};
};

TEST_F(NdpTest, OneWindowIsBlindAndAnAcknowledgementAddsNothing) {
  EXPECT_EQ(pulls(), kBdp);
  driver_.Send(kMtu);
  driver_.Ack(kMtu, {}, Micros(12));
  EXPECT_EQ(pulls(), kBdp - kMtu);
  cc_.OnCredit(driver_.now(), kMtu);
  EXPECT_EQ(pulls(), kBdp);
}

// What was trimmed is pulled by its header; what was lost is not.
TEST_F(NdpTest, ATrimWaitsForItsPullAndALossDoesNot) {
  driver_.Send(4 * kMtu);
  driver_.Lose(kMtu, LossCause::kTrim);
  driver_.Lose(kMtu, LossCause::kTrimLastHop);
  EXPECT_EQ(pulls(), kBdp - 4 * kMtu);
  driver_.Lose(kMtu, LossCause::kTime);
  EXPECT_EQ(pulls(), kBdp - 3 * kMtu);
  driver_.Timeout();  // the last one
  EXPECT_EQ(pulls(), kBdp - 2 * kMtu);
}

TEST_F(NdpTest, ALossThatWasNoneHasNotLeftRoom) {
  driver_.Send(2 * kMtu);
  driver_.Lose(kMtu, LossCause::kOrder);
  cc_.OnSpurious({.bytes = kMtu});
  EXPECT_EQ(pulls(), kBdp - 2 * kMtu);
}

TEST_F(NdpTest, NoMoreThanTheWindowIsInHand) {
  cc_.OnCredit(driver_.now(), kMtu);
  EXPECT_EQ(pulls(), kBdp);
}

TEST_F(NdpTest, APauseOfOneRoundTripGivesTheWindowAgain) {
  driver_.Send(kBdp);
  driver_.Ack(kBdp, {}, Micros(12));
  cc_.OnResume(driver_.now(), Micros(12) - Nanos(1));
  EXPECT_EQ(pulls(), Bytes(0));
  cc_.OnResume(driver_.now(), Micros(12));
  EXPECT_EQ(pulls(), kBdp);
}

TEST_F(NdpTest, AsksOnlyWhenNothingIsOnItsWay) {
  EXPECT_EQ(cc_.CreditWanted(kMtu), Bytes(0));  // has pulls
  driver_.Send(kBdp);
  EXPECT_EQ(cc_.CreditWanted(kMtu), Bytes(0));  // will be pulled
  driver_.Ack(kBdp, {}, Micros(12));
  EXPECT_EQ(cc_.CreditWanted(kMtu), kMtu);
  EXPECT_EQ(cc_.CreditWanted(Bytes(0)), Bytes(0));
}

class NdpSchedulerTest : public testing::Test {
 protected:
  void Arrive(CreditFlow flow, bool trimmed = false) {
    scheduler_.OnData({.flow = flow, .size = kMtu, .trimmed = trimmed});
  }

  NdpScheduler scheduler_{kTestReceiver, {}};
};

// Section 12: 4096 B at 100 Gb/s take 327.68 ns.
TEST_F(NdpSchedulerTest, PullsAreOnePacketTimeApart) {
  for (int i = 0; i < 4; ++i) Arrive(0);
  const auto grants = TakeGrants(scheduler_, Time(0), Time(100'000));
  ASSERT_EQ(grants.size(), 4u);
  const int64_t times[] = {0, 328, 656, 984};  // 983.04
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(grants[i].bytes, kMtu);
    EXPECT_EQ(grants[i].at, Time(times[i]));
  }
}

TEST_F(NdpSchedulerTest, AHeaderPullsLikeAPacket) {
  Arrive(0, /*trimmed=*/true);
  Arrive(0);
  EXPECT_EQ(Total(TakeGrants(scheduler_, Time(0), Time(100'000))), 2 * kMtu);
}

TEST_F(NdpSchedulerTest, SendersTakeTurnsHoweverMuchArrived) {
  for (int i = 0; i < 6; ++i) Arrive(0);
  for (int i = 0; i < 2; ++i) Arrive(1);
  const auto grants = TakeGrants(scheduler_, Time(0), Time(100'000));
  const CreditFlow order[] = {0, 1, 0, 1, 0, 0, 0, 0};
  ASSERT_EQ(grants.size(), 8u);
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(grants[i].flow, order[i]) << i;
}

TEST_F(NdpSchedulerTest, WhoIsStuckGetsOnePull) {
  scheduler_.OnDemand(Time(0), 2, kBdp);
  EXPECT_EQ(Total(TakeGrants(scheduler_, Time(0), Time(100'000))), kMtu);
  Arrive(2);
  scheduler_.OnDemand(Time(200'000), 2, kMtu);  // has one queued already
  EXPECT_EQ(Total(TakeGrants(scheduler_, Time(200'000), Time(300'000))), kMtu);
}

TEST_F(NdpSchedulerTest, AClosedConnectionIsForgotten) {
  Arrive(0);
  Arrive(1);
  scheduler_.OnDone(Time(0), 0);
  EXPECT_EQ(Total(TakeGrants(scheduler_, Time(0), Time(100'000)), 1), kMtu);
}

}  // namespace
}  // namespace weir
