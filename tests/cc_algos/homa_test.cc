#include "cc_algos/homa.h"

#include <gtest/gtest.h>

#include "tests/support/cc_driver.h"
#include "tests/support/grants.h"

namespace weir {
namespace {

constexpr Bytes kMtu{4096};
constexpr Bytes kBdp{150'000};

TEST(HomaTest, TheFirstBdpGoesUnasked) {
  Homa cc(kTestFlow, {});
  EXPECT_EQ(cc.allowance().credit, kBdp);
  cc.OnCredit(Time(0), kMtu);
  cc.OnResume(Time(0), Micros(12));
  EXPECT_EQ(cc.allowance().credit, kBdp);
}

HomaScheduler Make(const Homa::Config& config) { return {kTestReceiver, config}; }

// Section 13: 8 BDP are 1.2 MB. Of two senders each gets a third, 400 kB or 97 packets.
TEST(HomaSchedulerTest, TheSumOfWhatIsGrantedIsBounded) {
  HomaScheduler scheduler = Make({.fifo_share = 0});
  scheduler.OnDemand(Time(0), 0, MiB(10));
  scheduler.OnDemand(Time(0), 1, MiB(10));
  const auto grants = TakeGrants(scheduler, Time(0), Time(100'000));
  EXPECT_EQ(Total(grants, 0), 97 * kMtu);
  EXPECT_EQ(Total(grants, 1), 97 * kMtu);
  for (CreditFlow flow = 2; flow < 32; ++flow) scheduler.OnDemand(Time(100'000), flow, KiB(64));
  TakeGrants(scheduler, Time(100'000), Time(200'000));
  EXPECT_LE(scheduler.incoming(), Bytes(1'200'000));
}

// Shortest remaining first: of three one is active at a time, and gets half of what may come in.
TEST(HomaSchedulerTest, TheLeastRemainingComesFirst) {
  HomaScheduler scheduler = Make({.overcommit = 1, .fifo_share = 0});
  scheduler.OnDemand(Time(0), 0, 20 * kMtu);
  scheduler.OnDemand(Time(0), 1, 5 * kMtu);
  scheduler.OnDemand(Time(0), 2, 10 * kMtu);
  const auto grants = TakeGrants(scheduler, Time(0), Time(100'000));
  ASSERT_EQ(grants.size(), 35u);
  for (size_t i = 0; i < 35; ++i) {
    EXPECT_EQ(grants[i].flow, i < 5 ? 1u : i < 15 ? 2u : 0u) << i;
  }
}

// What was granted and has not arrived still remains.
TEST(HomaSchedulerTest, WhoHasBeenGrantedIsNotShorterForIt) {
  HomaScheduler scheduler = Make({.overcommit = 1, .fifo_share = 0});
  scheduler.OnDemand(Time(0), 0, 20 * kMtu);
  TakeGrants(scheduler, Time(0), Time(10));
  scheduler.OnDemand(Time(10), 0, 8 * kMtu);
  scheduler.OnDemand(Time(10), 1, 10 * kMtu);
  EXPECT_EQ(scheduler.NextGrant(Time(10)).flow, 1u);  // 10 remain, of the other 8 and more
}

// Of 200 grants the longest waiting gets 5 %, though others are shorter all the time.
TEST(HomaSchedulerTest, WhoWaitedLongestGetsItsShare) {
  HomaScheduler scheduler = Make({.max_incoming = 100, .overcommit = 1});
  scheduler.OnDemand(Time(0), 0, MiB(10));
  scheduler.OnDemand(Time(0), 1, MiB(9));
  Bytes oldest{};
  for (int i = 0; i < 210; ++i) {
    const Grant grant = scheduler.NextGrant(Time(i));
    if (grant.flow == 0) oldest += grant.bytes;
    scheduler.OnData({.now = Time(i), .flow = grant.flow, .size = grant.bytes});
  }
  EXPECT_EQ(oldest, 10 * kMtu);
}

// Section 13: of k active senders k - 1 may be silent.
TEST(HomaSchedulerTest, OvercommitmentLeavesNoGapWhenOthersAreSilent) {
  for (const int64_t k : {1, 3}) {
    HomaScheduler scheduler = Make({.max_incoming = 4, .overcommit = k, .fifo_share = 0});
    // The silent ones have less to send, and so come first.
    for (CreditFlow flow = 0; flow < 2; ++flow) scheduler.OnDemand(Time(0), flow, KiB(512));
    scheduler.OnDemand(Time(0), 2, MiB(10));
    const auto first = TakeGrants(scheduler, Time(0), Time(10'000));
    const Bytes speaker = Total(first, 2);
    if (k == 1) {
      EXPECT_EQ(speaker, Bytes(0));
      const auto later = TakeGrants(scheduler, Time(10'000), Time(20'000'000));
      ASSERT_FALSE(later.empty());
      EXPECT_EQ(later[0].at, Time(5'000'000));  // the first silent one is given up
      EXPECT_GT(Total(later, 2), Bytes(0));     // and then the other
    } else {
      EXPECT_GE(speaker, kBdp - kMtu);  // 4 BDP by 4: enough for the whole line
    }
  }
}

TEST(HomaSchedulerTest, WhoIsHeardAgainComesInItsOrder) {
  HomaScheduler scheduler = Make({.overcommit = 1, .fifo_share = 0});
  scheduler.OnDemand(Time(0), 0, MiB(1));
  scheduler.OnDemand(Time(0), 1, MiB(2));
  TakeGrants(scheduler, Time(0), Time(4'000'000));
  EXPECT_EQ(scheduler.NextGrant(Time(5'000'000)).flow, 1u);
  scheduler.OnData({.now = Time(5'000'001), .flow = 0, .size = kMtu});
  EXPECT_EQ(scheduler.NextGrant(Time(5'000'001)).flow, 0u);
}

}  // namespace
}  // namespace weir
