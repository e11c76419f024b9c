#include "cc_algos/sird.h"

#include <gtest/gtest.h>

#include "tests/support/cc_driver.h"
#include "tests/support/grants.h"

namespace weir {
namespace {

constexpr Bytes kMtu{4096};
constexpr Bytes kBdp{150'000};
constexpr Bytes kBudget{225'000};  // 1.5 BDP

TEST(SirdTest, StartsWithOneBdpUnscheduledAndMarksAboveHalfOfOne) {
  Sird cc(kTestFlow, {});
  EXPECT_EQ(cc.allowance().credit, kBdp);
  EXPECT_FALSE(cc.CreditPilesUp({.bytes = Bytes(75'000), .connections = 2}));
  EXPECT_TRUE(cc.CreditPilesUp({.bytes = Bytes(75'001), .connections = 2}));
}

// Section 14: no sender mark when fewer than two are outbound.
TEST(SirdTest, ASingleConnectionDoesNotMarkItself) {
  Sird cc(kTestFlow, {});
  EXPECT_FALSE(cc.CreditPilesUp({.bytes = Bytes(1'000'000), .connections = 1}));
}

// And for the packet that carries the question.
TEST(SirdTest, AsksForAllItHas) {
  Sird cc(kTestFlow, {});
  cc.OnCredit(Time(0), kMtu);
  EXPECT_EQ(cc.CreditWanted(MiB(100)), MiB(100) - (kBdp + kMtu) + kMtu);
}

class SirdSchedulerTest : public testing::Test {
 protected:
  SirdScheduler Make(const Sird::Config& config = {}) { return {kTestReceiver, config}; }
};

// A sender gets up to its bucket, one BDP of 36 packets, and all together up to 1.5: 54 packets.
TEST_F(SirdSchedulerTest, TheSumOfOutstandingCreditStaysInTheBudget) {
  SirdScheduler scheduler = Make();
  for (CreditFlow flow = 0; flow < 8; ++flow) scheduler.OnDemand(Time(0), flow, MiB(1));
  const auto grants = TakeGrants(scheduler, Time(0), Time(100'000));
  EXPECT_EQ(Total(grants), 54 * kMtu);
  EXPECT_LE(scheduler.outstanding(), kBudget);
  for (CreditFlow flow = 0; flow < 8; ++flow) EXPECT_LE(Total(grants, flow), 36 * kMtu);
  // What arrives is granted again.
  scheduler.OnData({.now = Time(100'000), .flow = grants[0].flow, .size = kMtu});
  EXPECT_EQ(Total(TakeGrants(scheduler, Time(100'000), Time(200'000))), kMtu);
}

TEST_F(SirdSchedulerTest, TheLeastDemandComesFirst) {
  SirdScheduler scheduler = Make();
  scheduler.OnDemand(Time(0), 0, 30 * kMtu);
  scheduler.OnDemand(Time(0), 1, 3 * kMtu);
  const auto grants = TakeGrants(scheduler, Time(0), Time(100'000));
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(grants[i].flow, i < 3 ? 1u : 0u) << i;
}

TEST_F(SirdSchedulerTest, OrInTurn) {
  SirdScheduler scheduler = Make({.order = Sird::Order::kFair});
  scheduler.OnDemand(Time(0), 0, 30 * kMtu);
  scheduler.OnDemand(Time(0), 1, 3 * kMtu);
  const auto grants = TakeGrants(scheduler, Time(0), Time(100'000));
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(grants[i].flow, i % 2) << i;
}

// With all bytes marked: alpha = 0.08, so the bucket is 150000 (1 - 0.04) = 144000 after the first
// bucket of 37 packets; alpha = 0.1536 and 144000 (1 - 0.0768) = 132940 after 36 more.
TEST_F(SirdSchedulerTest, AMarkedBucketShrinksLikeAWindowOfDctcp) {
  for (const bool by_sender : {false, true}) {
    SirdScheduler scheduler = Make();
    const auto arrive = [&](int packets, bool marked) {
      for (int i = 0; i < packets; ++i) {
        scheduler.OnData({.flow = 0,
                          .size = kMtu,
                          .marked = marked && !by_sender,
                          .piles_up = marked && by_sender});
      }
    };
    arrive(36, true);
    EXPECT_EQ(scheduler.bucket(0), kBdp);
    arrive(1, true);
    EXPECT_EQ(scheduler.bucket(0), Bytes(144'000));
    arrive(36, true);
    EXPECT_NEAR(static_cast<double>(scheduler.bucket(0).count()), 132'940, 1);
    const Bytes before = scheduler.bucket(0);
    arrive(33, false);  // one bucket without a mark
    EXPECT_EQ(scheduler.bucket(0), before + kMtu);
  }
}

TEST_F(SirdSchedulerTest, ABucketNeverFallsBelowOnePacketNorAboveOneBdp) {
  SirdScheduler scheduler = Make({.g = 1});
  for (int i = 0; i < 1000; ++i) scheduler.OnData({.flow = 0, .size = kMtu, .marked = true});
  EXPECT_EQ(scheduler.bucket(0), kMtu);
  scheduler.OnDemand(Time(0), 0, MiB(1));
  EXPECT_EQ(Total(TakeGrants(scheduler, Time(0), Time(1000))), kMtu);
  for (int i = 0; i < 10'000; ++i) scheduler.OnData({.flow = 0, .size = kMtu});
  EXPECT_EQ(scheduler.bucket(0), kBdp);
}

TEST_F(SirdSchedulerTest, CreditThatBroughtNothingIsVoidAfterASilence) {
  SirdScheduler scheduler = Make();
  scheduler.OnDemand(Time(0), 0, MiB(1));
  EXPECT_EQ(Total(TakeGrants(scheduler, Time(0), Time(900'000))), 36 * kMtu);
  EXPECT_EQ(Total(TakeGrants(scheduler, Time(1'000'000), Time(1'500'000))), 36 * kMtu);
}

TEST_F(SirdSchedulerTest, AClosedConnectionGivesItsCreditBack) {
  SirdScheduler scheduler = Make();
  scheduler.OnDemand(Time(0), 0, MiB(1));
  TakeGrants(scheduler, Time(0), Time(1000));
  scheduler.OnDone(Time(1000), 0);
  EXPECT_EQ(scheduler.outstanding(), Bytes(0));
  EXPECT_TRUE(TakeGrants(scheduler, Time(2000), Time(3000)).empty());
}

}  // namespace
}  // namespace weir
