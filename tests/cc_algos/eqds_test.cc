#include "cc_algos/eqds.h"

#include <gtest/gtest.h>

#include "tests/support/cc_driver.h"
#include "tests/support/grants.h"

namespace weir {
namespace {

constexpr Bytes kMtu{4096};
constexpr Bytes kBdp{150'000};

TEST(EqdsTest, SpeculatesAtTheStartAndAfterAPause) {
  Eqds cc(kTestFlow, {});
  EXPECT_EQ(cc.allowance().credit, kBdp);
  cc.OnCredit(Time(0), kMtu);
  EXPECT_EQ(cc.allowance().credit, kMtu);
  cc.OnResume(Time(0), Micros(12) - Nanos(1));
  EXPECT_EQ(cc.allowance().credit, kMtu);
  cc.OnResume(Time(0), Micros(12));
  EXPECT_EQ(cc.allowance().credit, kBdp);
  cc.OnCredit(Time(0), kMtu);
  EXPECT_EQ(cc.allowance().credit, kMtu);
}

class EqdsSchedulerTest : public testing::Test {
 protected:
  // Packets of one sender over one base RTT and a little, so many of ten marked.
  void Arrive(CreditFlow flow, int marked) {
    for (int i = 0; i < 10; ++i) {
      now_ = now_ + Nanos(1300);
      scheduler_.OnData({.now = now_, .flow = flow, .size = kMtu, .marked = i < marked});
    }
  }

  EqdsScheduler scheduler_{kTestReceiver, {}};
  Time now_{0};
};

// T-RCCC-1: 4096 B at 99 Gb/s take 330.99 ns.
TEST_F(EqdsSchedulerTest, QuantaArePacedAndTakeTurns) {
  scheduler_.OnDemand(Time(0), 3, kBdp);
  scheduler_.OnDemand(Time(0), 5, kBdp);
  const auto grants = TakeGrants(scheduler_, Time(0), Time(993));
  ASSERT_EQ(grants.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(grants[i].flow, i % 2 == 0 ? 3u : 5u);
    EXPECT_EQ(grants[i].bytes, kMtu);
  }
  EXPECT_EQ(grants[1].at, Time(331));
  EXPECT_EQ(grants[3].at, Time(993));  // 992.97
}

// More than a tenth of a round trip's bytes stop a sender for the next one.
TEST_F(EqdsSchedulerTest, AMarkedSenderIsStoppedForARoundTrip) {
  scheduler_.OnDemand(now_, 0, kBdp);
  Arrive(0, 2);  // the tenth packet, at 13 us, ends the round trip: 2 of 10
  EXPECT_EQ(scheduler_.NextGrant(now_).flow, kNoFlow);
  EXPECT_EQ(scheduler_.NextGrant(now_).again, now_ + Micros(12));
  EXPECT_EQ(scheduler_.NextGrant(now_ + Micros(12)).flow, 0u);
}

TEST_F(EqdsSchedulerTest, ATenthDoesNotStopIt) {
  scheduler_.OnDemand(now_, 0, kBdp);
  Arrive(0, 1);
  EXPECT_EQ(scheduler_.NextGrant(now_).flow, 0u);
}

TEST_F(EqdsSchedulerTest, TheOthersGoOn) {
  scheduler_.OnDemand(now_, 0, kBdp);
  scheduler_.OnDemand(now_, 1, kBdp);
  Arrive(0, 10);
  for (const TimedGrant& grant : TakeGrants(scheduler_, now_, now_ + Micros(11))) {
    EXPECT_EQ(grant.flow, 1u);
  }
}

TEST_F(EqdsSchedulerTest, ATrimmedPacketIsCreditedUnasked) {
  scheduler_.OnData({.flow = 0, .size = kMtu, .trimmed = true});
  EXPECT_EQ(Total(TakeGrants(scheduler_, Time(0), Time(100'000))), kMtu);
}

TEST_F(EqdsSchedulerTest, NothingIsGrantedWithoutDemand) {
  scheduler_.OnDemand(Time(0), 0, 2 * kMtu);
  EXPECT_EQ(Total(TakeGrants(scheduler_, Time(0), Time(100'000))), 2 * kMtu);
}

}  // namespace
}  // namespace weir
