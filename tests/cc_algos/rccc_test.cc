#include "cc_algos/rccc.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/cc_driver.h"

namespace weir {
namespace {

constexpr Bytes kMtu{4096};
constexpr Bytes kBdp{150'000};
constexpr Bytes kMaxWindow{225'000};  // 1.5 BDP
constexpr CreditInfo kInfo = {
    .mtu = kMtu, .line_rate = Gbps(100), .base_rtt = Micros(12), .connections = 64, .seed = 1};

class RcccTest : public testing::Test {
 protected:
  Bytes credit() const { return cc_.allowance().credit; }

  Rccc cc_{kTestFlow, {}};
  CcDriver driver_{cc_};
};

TEST_F(RcccTest, StartsWithOneBdpOfSpeculativeCredit) {
  EXPECT_EQ(credit(), kBdp);
  EXPECT_EQ(cc_.allowance().window, kMaxWindow);
  EXPECT_EQ(cc_.allowance().rate, Rate::Max());
}

TEST_F(RcccTest, EachPacketSpendsItsSizeRetransmissionsToo) {
  driver_.Send(kMtu);
  driver_.Send(Bytes(100), /*retransmit=*/true);
  EXPECT_EQ(credit(), kBdp - kMtu - Bytes(100));
}

TEST_F(RcccTest, TheFirstWordEndsSpeculation) {
  const auto left_after = [](auto event) {
    Rccc cc(kTestFlow, {});
    CcDriver driver(cc);
    driver.Send(kMtu);
    event(cc, driver);
    return cc.allowance().credit;
  };
  EXPECT_EQ(left_after([](Rccc&, CcDriver& d) { d.Ack(kMtu, {}, Micros(12)); }), Bytes(0));
  EXPECT_EQ(left_after([](Rccc&, CcDriver& d) { d.Lose(kMtu, LossCause::kTrim); }), Bytes(0));
  EXPECT_EQ(left_after([](Rccc&, CcDriver& d) { d.Timeout(); }), Bytes(0));
  EXPECT_EQ(left_after([](Rccc& cc, CcDriver& d) { cc.OnCredit(d.now(), kMtu); }), kMtu);
}

TEST_F(RcccTest, GrantedCreditOutlivesAcknowledgements) {
  cc_.OnCredit(driver_.now(), 4 * kMtu);
  driver_.Send(kMtu);
  driver_.Ack(kMtu, Bytes(0), Micros(12));
  EXPECT_EQ(credit(), 3 * kMtu);
}

TEST_F(RcccTest, CreditBeyondTheLargestWindowIsLost) {
  cc_.OnCredit(driver_.now(), kMaxWindow + Bytes(1));
  EXPECT_EQ(credit(), kMaxWindow);
  EXPECT_EQ(cc_.counters()[1], 1u);
}

TEST_F(RcccTest, AsksForItsBacklogBeyondWhatItHolds) {
  cc_.OnCredit(driver_.now(), 4 * kMtu);
  EXPECT_EQ(cc_.CreditWanted(Bytes(0)), Bytes(0));
  EXPECT_EQ(cc_.CreditWanted(4 * kMtu), Bytes(0));
  EXPECT_EQ(cc_.CreditWanted(10 * kMtu), 6 * kMtu);
  EXPECT_EQ(cc_.CreditWanted(MiB(1)), kMaxWindow - 4 * kMtu);
}

TEST_F(RcccTest, WhileSpeculatingItAsksForOnePacketAtLeast) {
  EXPECT_EQ(cc_.CreditWanted(kMtu), kMtu);
  EXPECT_EQ(cc_.CreditWanted(Bytes(0)), Bytes(0));
  EXPECT_EQ(cc_.CreditWanted(MiB(1)), kMaxWindow - kBdp);
}

// T-RCCC-5, the sender's part: after a time-out it holds nothing and asks; the core limits how
// often.
TEST_F(RcccTest, AfterATimeoutItAsksForTheLostBytes) {
  driver_.Send(kBdp);
  driver_.Timeout();
  EXPECT_EQ(credit(), Bytes(0));
  EXPECT_EQ(cc_.CreditWanted(kBdp), kBdp);
}

TEST_F(RcccTest, APacketLargerThanTheCreditLeftIsOwed) {
  cc_.OnCredit(driver_.now(), Bytes(100));
  driver_.Send(kMtu);
  EXPECT_EQ(credit(), Bytes(0));
  EXPECT_EQ(cc_.CreditWanted(kMtu), 2 * kMtu - Bytes(100));
}

TEST_F(RcccTest, AsksForTheReceiverHalf) {
  const CcEntry entry = CcPlugin<Rccc>("rccc", "", "", {});
  EXPECT_EQ(entry.duty(kTestFlow, entry.defaults()).scheduler, 1);
  EXPECT_EQ(Rccc::kReceiverHalf.id, 1);
}

class RcccSchedulerTest : public testing::Test {
 protected:
  // Takes grants from `from` until `until`, each when it is possible.
  std::vector<Grant> Grants(Time from, Time until) {
    std::vector<Grant> grants;
    for (Time now = from; now <= until;) {
      const Grant grant = scheduler_.NextGrant(now);
      if (grant.flow != kNoFlow) grants.push_back(grant);
      if (grant.again == Time::Never()) break;
      EXPECT_GT(grant.again, now);
      now = grant.again;
    }
    return grants;
  }

  RcccScheduler scheduler_{kInfo, {.idle_ahead = 0}};
};

// T-RCCC-1: a quantum of 16384 B at 99 Gb/s lasts 1323.96 ns.
TEST_F(RcccSchedulerTest, TheNextGrantIsOneQuantumLater) {
  EXPECT_EQ(scheduler_.pace(), Gbps(99));
  scheduler_.OnDemand(Time(0), 3, kMaxWindow);
  const Grant first = scheduler_.NextGrant(Time(0));
  EXPECT_EQ(first.flow, 3u);
  EXPECT_EQ(first.bytes, KiB(16));
  EXPECT_EQ(first.again, Time(1324));
  EXPECT_EQ(scheduler_.NextGrant(Time(1323)).flow, kNoFlow);
  EXPECT_EQ(scheduler_.NextGrant(Time(1324)).again, Time(2648));  // 2 * 1323.96 = 2647.9
}

// T-RCCC-1
TEST_F(RcccSchedulerTest, TheLongRunRateIsTheShareOfTheLineRateHoweverItIsPolled) {
  for (const int64_t late : {0, 7, 500}) {
    RcccScheduler scheduler(kInfo, {});
    Bytes granted{};
    Time now{0};
    for (int i = 0; i < 100'000; ++i) {
      scheduler.OnDemand(now, 0, kMaxWindow);
      const Grant grant = scheduler.NextGrant(now);
      granted += grant.bytes;
      now = grant.again + Duration(late);
    }
    EXPECT_NEAR(Ratio(granted / (now - Time(0)), Gbps(100)), 0.99, 0.00001) << late;
  }
}

TEST_F(RcccSchedulerTest, ALatePollMakesUpForOneQuantumOnly) {
  scheduler_.OnDemand(Time(0), 0, kMaxWindow);
  scheduler_.NextGrant(Time(0));
  EXPECT_EQ(scheduler_.NextGrant(Time(1'000'000)).again, Time(1'001'324));
}

TEST_F(RcccSchedulerTest, WaitingSendersTakeTurns) {
  for (const CreditFlow flow : {5u, 2u, 9u}) scheduler_.OnDemand(Time(0), flow, kMaxWindow);
  const auto grants = Grants(Time(0), Time(7 * 1324));
  ASSERT_GE(grants.size(), 7u);
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(grants[i].flow, (std::vector<CreditFlow>{5, 2, 9})[i % 3]) << i;
  }
}

TEST_F(RcccSchedulerTest, OneSenderGetsWhatItAskedForAndNoMore) {
  scheduler_.OnDemand(Time(0), 0, Bytes(40'000));
  const auto grants = Grants(Time(0), Time(100'000));
  ASSERT_EQ(grants.size(), 3u);  // 16384 + 16384 + 7232
  EXPECT_EQ(grants[2].bytes, Bytes(40'000 - 2 * 16'384));
  EXPECT_EQ(grants[2].again, Time::Never());
}

TEST_F(RcccSchedulerTest, DemandIsCappedAtTheLargestWindow) {
  scheduler_.OnDemand(Time(0), 0, MiB(100));
  Bytes granted{};
  for (const Grant& grant : Grants(Time(0), Time(10'000'000))) granted += grant.bytes;
  EXPECT_EQ(granted, kMaxWindow);
}

TEST_F(RcccSchedulerTest, ANewerDemandReplacesTheOlder) {
  scheduler_.OnDemand(Time(0), 0, kMaxWindow);
  scheduler_.OnDemand(Time(0), 0, kMtu);
  const auto grants = Grants(Time(0), Time(100'000));
  ASSERT_EQ(grants.size(), 1u);
  EXPECT_EQ(grants[0].bytes, kMtu);
  scheduler_.OnDemand(Time(100'000), 0, kMaxWindow);
  scheduler_.OnDemand(Time(100'000), 0, Bytes(0));
  EXPECT_TRUE(Grants(Time(200'000), Time(300'000)).empty());
}

TEST_F(RcccSchedulerTest, ATrimmedPacketIsCreditedAgainUnasked) {
  scheduler_.OnData({.flow = 0, .size = Bytes(64), .trimmed = true});
  const auto grants = Grants(Time(0), Time(100'000));
  ASSERT_EQ(grants.size(), 1u);
  EXPECT_EQ(grants[0].bytes, kMtu);
}

TEST_F(RcccSchedulerTest, ATrimmedPacketThatWasAskedForIsCreditedOnce) {
  scheduler_.OnData({.flow = 0, .size = Bytes(64), .trimmed = true});
  scheduler_.OnDemand(Time(0), 0, 2 * kMtu);
  Bytes granted{};
  for (const Grant& grant : Grants(Time(0), Time(100'000))) granted += grant.bytes;
  EXPECT_EQ(granted, 2 * kMtu);
}

TEST_F(RcccSchedulerTest, AClosedConnectionIsForgotten) {
  for (const CreditFlow flow : {0u, 1u, 2u}) scheduler_.OnDemand(Time(0), flow, kMaxWindow);
  scheduler_.OnDone(Time(0), 0);
  scheduler_.OnDone(Time(0), 2);
  for (const Grant& grant : Grants(Time(0), Time(100'000))) EXPECT_EQ(grant.flow, 1u);
}

// T-RCCC-4
TEST(RcccIdleTest, AnIdleSenderGetsOneBdpAheadAndNoMore) {
  RcccScheduler scheduler(kInfo, {});
  scheduler.OnDemand(Time(0), 0, kMtu);
  Bytes granted{};
  Time now{0};
  while (now != Time::Never()) {
    const Grant grant = scheduler.NextGrant(now);
    granted += grant.bytes;
    now = grant.again;
  }
  EXPECT_EQ(granted, kMtu + kBdp);
  // It uses a part; that part may be granted ahead again.
  scheduler.OnData({.now = Time(1'000'000), .flow = 0, .size = 2 * kMtu});
  EXPECT_EQ(scheduler.NextGrant(Time(1'000'000)).bytes, 2 * kMtu);
  EXPECT_EQ(scheduler.NextGrant(Time(2'000'000)).flow, kNoFlow);
}

TEST(RcccIdleTest, ANewDemandShowsThatWhatWasAheadIsUsed) {
  RcccScheduler scheduler(kInfo, {});
  const auto grant_all = [&scheduler](Time now) {
    Bytes granted{};
    while (now != Time::Never()) {
      const Grant grant = scheduler.NextGrant(now);
      granted += grant.bytes;
      now = grant.again;
    }
    return granted;
  };
  scheduler.OnDemand(Time(0), 0, Bytes(0));
  EXPECT_EQ(grant_all(Time(0)), kBdp);
  scheduler.OnDemand(Time(1'000'000), 0, kMtu);
  EXPECT_EQ(grant_all(Time(1'000'000)), kMtu + kBdp);
}

TEST(RcccIdleTest, WhoWaitsComesBeforeWhoIsIdle) {
  RcccScheduler scheduler(kInfo, {});
  scheduler.OnDemand(Time(0), 0, Bytes(0));
  scheduler.OnDemand(Time(0), 1, 2 * KiB(16));
  EXPECT_EQ(scheduler.NextGrant(Time(0)).flow, 1u);
  EXPECT_EQ(scheduler.NextGrant(Time(2000)).flow, 1u);
  EXPECT_EQ(scheduler.NextGrant(Time(4000)).flow, 0u);  // nobody waits any more
}

// T-RCCC-3: thirty-two senders share one receiver; each packet takes half an RTT, as does each
// grant. What is granted is what arrived plus what is held or on its way; nobody overdraws.
TEST(RcccLoopTest, CreditIsConserved) {
  constexpr int kSenders = 32;
  RcccScheduler scheduler(kInfo, {});
  std::vector<Rccc> senders(kSenders, Rccc(kTestFlow, {}));
  std::vector<Bytes> granted(kSenders), clamped(kSenders), spent(kSenders);
  for (Rccc& sender : senders) sender.OnCredit(Time(0), Bytes(0));  // ends speculation
  Rng rng(7);
  Time poll{0};
  for (Time now{0}; now < Time(2'000'000); now = now + Nanos(100)) {
    if (now >= poll) {
      const Grant grant = scheduler.NextGrant(now);
      poll = grant.again;
      if (grant.flow != kNoFlow) {
        senders[grant.flow].OnCredit(now, grant.bytes);
        granted[grant.flow] += grant.bytes;
        clamped[grant.flow] = Bytes(static_cast<int64_t>(senders[grant.flow].counters()[1]));
      }
    }
    const CreditFlow flow = rng.Below(kSenders);
    Rccc& sender = senders[flow];
    if (sender.allowance().credit >= kMtu && rng.Chance(0.9)) {
      sender.OnSend({.now = now, .size = kMtu, .in_flight = kMtu});
      spent[flow] += kMtu;
      scheduler.OnData({.now = now, .flow = flow, .size = kMtu});
    }
    scheduler.OnDemand(now, flow, sender.CreditWanted(rng.Below(64) * kMtu));
    poll = std::min(poll, now + Nanos(100));
    ASSERT_EQ(granted[flow], spent[flow] + clamped[flow] + sender.allowance().credit);
  }
  Bytes total{};
  for (const Bytes bytes : granted) total += bytes;
  EXPECT_LE(total, Gbps(99) * Millis(2) + 2 * KiB(16));
  EXPECT_GT(total, Gbps(80) * Millis(2));
}

}  // namespace
}  // namespace weir
