// RCCC over one bottleneck: what the receiver grants is what arrives. Source: UEC 1.0 section
// 3.6.14. 100 Gb/s, 12 us: one BDP is 150 kB, the largest window 225 kB.
#include "cc_algos/rccc.h"

#include "gtest/gtest.h"
#include "tests/support/bottleneck.h"

namespace weir {
namespace {

constexpr Rate kRate = Gbps(100);
constexpr Duration kRtt = Micros(12);
constexpr double kPacket = static_cast<double>(kMtu.count());
constexpr Bytes kBdp{150'000};
constexpr Bytes kMaxWindow{225'000};

NetworkSpec Spec(uint32_t hosts) {
  return {.topology = SingleBottleneck(
              {.senders = hosts - 1, .rate = kRate, .delay = DelayFor(kRtt, kRate)}),
          .binding = Bind("rccc"),
          .switches = {.queue_limit = kBdp, .trimming = true},
          .endpoint = {.max_queue = kRtt}};
}

// T-RCCC-1.
TEST(RcccScenario, TheReceiverGrants99PercentOfItsLine) {
  Network net(Spec(2));
  net.ConnectIncast(1);
  net.WriteAll();
  net.RunFor(Micros(500));
  net.Mark();
  net.RunFor(Millis(4));
  // 4 ms are 11945 packets; a quantum of four more or less is 0.03 %.
  EXPECT_NEAR(Measured("utilisation", net.Utilisation(LinkTo(net.topology(), 1))), 0.99, 0.001);
}

// T-RCCC-2: what the first RTT brought is trimmed or drained two RTTs later; from then on only
// packets stand in the queue whose credits went out one after the other and who meet by chance.
TEST(RcccScenario, AnIncastLeavesAlmostNoQueue) {
  constexpr uint32_t kSenders = 32;
  Network net(Spec(kSenders + 1));
  const LinkId bottleneck = LinkTo(net.topology(), kSenders);
  net.ConnectIncast(kSenders);
  net.WriteAll();
  net.RunFor(4 * kRtt);  // first RTT, a full queue of one BDP, and two more
  net.Watch(bottleneck, Nanos(777));
  net.Mark();
  net.RunFor(100 * kRtt);
  const double peak = Measured("peak_packets", Quantile(net.queues(), 1) / kPacket);
  EXPECT_LT(peak, 2.0 * kSenders);
  EXPECT_GT(Measured("utilisation", net.Utilisation(bottleneck)), 0.97);
  EXPECT_GT(Measured("jain", net.Jain()), 0.99);
  EXPECT_EQ(net.fabric().dropped, 0u);
}

// T-RCCC-4: a sender with nothing to send is given at most one largest window in advance.
TEST(RcccScenario, AnIdleSenderHoldsAtMostOneWindowOfCredit) {
  Network net(Spec(2));
  net.ConnectIncast(1);
  for (int i = 0; i < 5; ++i) {
    net.Write(0, Bytes(1'000'000));
    ASSERT_TRUE(net.RunToEnd(Millis(1)));
    net.RunFor(20 * kRtt);
    EXPECT_EQ(net.sender(0).in_flight(), Bytes(0));
    const Bytes credit = net.sender(0).allowance().credit;
    Measured("credit_" + std::to_string(i), static_cast<double>(credit.count()));
    EXPECT_LE(credit, kMaxWindow) << i;
    EXPECT_GE(credit, kMtu) << i;  // and so it can begin at once
  }
}

// T-RCCC-5: the receiver's poll loop stands still, so nobody answers; requests for credit come no
// faster than once a round trip.
TEST(RcccScenario, CreditIsRequestedAtMostOnceInARoundTrip) {
  Network net(Spec(2));
  net.ConnectIncast(1);
  net.WriteAll();
  net.RunFor(Millis(1));
  constexpr Duration kStall = Micros(120);  // ten RTTs
  net.world().Stall(1, net.now() + kStall);
  net.RunFor(3 * kRtt);  // what was granted before is spent by now
  const LinkId uplink = LinkBetween(net.topology(), 0, 2);
  const auto requests = [&] {
    const Counters& sent = net.endpoint(0).counters();
    return net.world().fabric().port(uplink).packets_in - sent.data_packets_sent - sent.probes_sent;
  };
  const uint64_t before = requests();
  net.RunFor(kStall - 3 * kRtt);
  const uint64_t asked = requests() - before;
  Measured("requests", static_cast<double>(asked));
  EXPECT_GE(asked, 1u);
  EXPECT_LE(asked, 7u);
  net.RunFor(kRtt * 10);
  net.Mark();
  net.RunFor(kRtt * 20);
  EXPECT_GT(net.Rates()[0], 0.95 * 0.99 * 100e9);  // and all is well again
}

// T-RCCC-6: host 0 sends to hosts 1 and 2, host 3 to host 1. Both receivers grant host 0 half of a
// line or more, which its own port can't carry twice; host 3 gets its share all the same.
TEST(RcccScenario, ASenderToTwoReceiversStarvesNobody) {
  Network net(Spec(4));
  net.Connect({{0, 1}, {0, 2}, {3, 1}});
  net.WriteAll();
  net.RunFor(Micros(300));
  net.Mark();
  net.RunFor(Millis(2));
  const std::vector<double> rates = net.Rates();
  for (size_t i = 0; i < 3; ++i) Measured("rate_" + std::to_string(i), rates[i]);
  EXPECT_GT(rates[0] + rates[1], 0.97 * 100e9);
  EXPECT_GT(rates[0], 0.4 * 100e9);
  EXPECT_GT(rates[1], 0.4 * 100e9);
  EXPECT_GT(rates[2], 0.45 * 100e9);
  EXPECT_LT(rates[2], 0.6 * 100e9);
}

// T-RCCC-7: all that the receiver says is lost for a while, credit with it. Credit is counted from
// the beginning, so the next word from the receiver brings what was lost; the sender asks for it
// within a round trip of its last packet, and the answer takes another.
TEST(RcccScenario, LostCreditIsBackWithinTwoRoundTrips) {
  Network net(Spec(2));
  const LinkId back = LinkBetween(net.topology(), 2, 0);
  const LinkId ahead = LinkTo(net.topology(), 1);
  net.ConnectIncast(1);
  net.WriteAll();
  net.RunFor(Millis(1));
  net.world().fabric().SetImpairment(back, {.loss = 1});
  net.RunFor(Scaled(kRtt, 1.5));
  net.world().fabric().SetImpairment(back, {});
  // What was in flight is spent; now the line is silent until an answer to a request.
  net.RunFor(2 * kRtt + kRtt / 2);
  net.Mark();
  net.RunFor(Millis(1));
  EXPECT_GT(Measured("utilisation", net.Utilisation(ahead)), 0.98);
  EXPECT_EQ(net.counters().timeouts, 0u);
}

}  // namespace
}  // namespace weir
