// EQDS, NDP, Homa, SIRD and admission over one bottleneck. 100 Gb/s, 12 us: one BDP is 150 kB.
#include "gtest/gtest.h"
#include "tests/support/bottleneck.h"

namespace weir {
namespace {

constexpr Rate kRate = Gbps(100);
constexpr Duration kRtt = Micros(12);
constexpr Bytes kBdp{150'000};
constexpr double kPacket = static_cast<double>(kMtu.count());

NetworkSpec Spec(const char* algorithm, uint32_t hosts, Params params = {}) {
  return {.topology = SingleBottleneck(
              {.senders = hosts - 1, .rate = kRate, .delay = DelayFor(kRtt, kRate)}),
          .binding = Bind(algorithm, params),
          .switches = {.queue_limit = kBdp, .trimming = true},
          .endpoint = {.max_queue = kRtt}};
}

// As T-RCCC-2.
TEST(EqdsScenario, AnIncastLeavesAlmostNoQueue) {
  constexpr uint32_t kSenders = 32;
  Network net(Spec("eqds", kSenders + 1));
  const LinkId bottleneck = LinkTo(net.topology(), kSenders);
  net.ConnectIncast(kSenders);
  net.WriteAll();
  net.RunFor(4 * kRtt);
  net.Watch(bottleneck, Nanos(777));
  net.Mark();
  net.RunFor(100 * kRtt);
  EXPECT_LT(Measured("peak_packets", Quantile(net.queues(), 1) / kPacket), 2.0 * kSenders);
  EXPECT_GT(Measured("utilisation", net.Utilisation(bottleneck)), 0.97);
  EXPECT_GT(Measured("jain", net.Jain()), 0.99);
  EXPECT_EQ(net.fabric().dropped, 0u);
}

// Two senders share an uplink of half their rate, which marks: one that is not pulled for a round
// trip at a time leaves the queue there short.
TEST(EqdsScenario, WhoIsMarkedIsPulledLess) {
  double queue[2] = {};
  for (const bool stops : {false, true}) {
    NetworkSpec spec{.topology = LeafSpine({.leaves = 2,
                                            .hosts_per_leaf = 2,
                                            .spines = 1,
                                            .rate = kRate,
                                            .uplink_rate = kRate,
                                            .delay = DelayFor(kRtt, kRate, 4)}),
                     .binding = Bind("eqds", {{"stop_share", stops ? 0.1 : 1}}),
                     .switches = {.queue_limit = 8 * kBdp,
                                  .mark_min = kBdp / 5,
                                  .mark_max = kBdp * 4 / 5,
                                  .mark_last_hop = false,
                                  .trimming = true},
                     .endpoint = {.max_queue = 10 * kRtt}};
    Network net(spec);
    net.Connect({{0, 2}, {1, 3}});
    net.WriteAll();
    net.RunFor(Millis(1));
    const LinkId uplink = LinkBetween(net.topology(), 4, 6);
    net.Watch(uplink, Nanos(777));
    net.Mark();
    net.RunFor(Millis(2));
    double sum = 0;
    for (const double bytes : net.queues()) sum += bytes;
    queue[stops] = sum / static_cast<double>(net.queues().size()) / 150'000;
    Measured(stops ? "queue_stopped" : "queue", queue[stops]);
    const double busy = Measured(stops ? "stopped" : "free", net.Utilisation(uplink));
    EXPECT_GT(busy, stops ? 0.8 : 0.98);  // stop and go has its price
  }
  EXPECT_LT(queue[true], queue[false] / 2);
}

// Section 12: trimmed packets come again on pulls, not on timers, and few of them twice. 100
// senders of 80 packets each into a queue of eight packets.
TEST(NdpScenario, AnIncastOf8000PacketsIsPulledThrough) {
  constexpr uint32_t kSenders = 100;
  NetworkSpec spec = Spec("ndp", kSenders + 1, {{"initial_window", 30 * kPacket / 150e3}});
  spec.switches.queue_limit = 8 * kMtu;
  Network net(spec);
  net.ConnectIncast(kSenders);
  const Time start = net.now();
  net.WriteAll(Bytes(80 * kPayload));
  ASSERT_TRUE(net.RunToEnd(Millis(20)));
  const Counters c = net.counters();
  EXPECT_EQ(c.timeouts, 0u);
  EXPECT_GT(c.lost_by_trim, 2000u);
  EXPECT_NEAR(static_cast<double>(c.retransmitted_packets), static_cast<double>(c.lost_by_trim),
              0.01 * static_cast<double>(c.lost_by_trim));
  const double again = static_cast<double>(c.retransmitted_packets) / 8000;
  EXPECT_LE(Measured("retransmissions", again), 2);
  // 8000 packets of 4186 bytes take 2.68 ms; headers of what was trimmed and the end take 7 %.
  const double ideal = static_cast<double>((8000 * kMtu / kRate + kRtt).count());
  EXPECT_LT(Measured("over_ideal", static_cast<double>((net.now() - start).count()) / ideal), 1.08);
}

// Section 12: seven to one within 5 % of the best.
TEST(NdpScenario, SevenToOneIsNearlyIdeal) {
  NetworkSpec spec = Spec("ndp", 8, {{"initial_window", 30 * kPacket / 150e3}});
  spec.switches.queue_limit = 8 * kMtu;
  Network net(spec);
  net.ConnectIncast(7);
  const Time start = net.now();
  net.WriteAll(Bytes(1000 * kPayload));
  ASSERT_TRUE(net.RunToEnd(Millis(20)));
  const double ideal = static_cast<double>((7000 * kMtu / kRate + kRtt).count());
  EXPECT_LT(Measured("over_ideal", static_cast<double>((net.now() - start).count()) / ideal), 1.05);
}

// Section 13: a sender that is granted and does not send. With one active at a time the downlink
// waits for it, with two it does not.
TEST(HomaScenario, OvercommitmentFillsTheGapOfASilentSender) {
  for (const double k : {1.0, 2.0}) {
    NetworkSpec spec = Spec("homa", 3, {{"overcommit", k}, {"fifo_share", 0}, {"resend", 1e6}});
    spec.switches.queue_limit = 16 * kBdp;
    Network net(spec);
    net.ConnectIncast(2);
    net.Write(0, Bytes(3'000'000));  // less, and so it comes first
    net.Write(1, Bytes(40'000'000));
    net.RunFor(Micros(60));
    // Nothing of the first arrives any more, and it hears nothing.
    net.world().fabric().SetImpairment(LinkBetween(net.topology(), 0, 3), {.loss = 1});
    net.RunFor(Micros(200));
    net.Mark();
    net.RunFor(Micros(600));
    const double busy = Measured("busy_" + std::to_string(static_cast<int>(k)),
                                 net.Utilisation(LinkTo(net.topology(), 2)));
    if (k == 1) {
      EXPECT_LT(busy, 0.05);
    } else {
      EXPECT_GT(busy, 0.95);
    }
  }
}

// SRPT: of two transfers the shorter ends first and hardly waits for the other.
TEST(HomaScenario, TheShorterTransferHardlyWaits) {
  Duration alone{};
  for (const bool both : {false, true}) {
    NetworkSpec spec = Spec("homa", 3, {{"overcommit", 1}, {"max_incoming", 3}});
    spec.switches.queue_limit = 16 * kBdp;
    Network net(spec);
    net.ConnectIncast(2);
    if (both) net.Write(1, Bytes(20'000'000));
    net.RunFor(Micros(100));
    const Time start = net.now();
    net.Write(0, Bytes(1'500'000));
    net.RunFor(Micros(500));
    ASSERT_NE(net.ended(0), Time::Never());
    const Duration took = net.ended(0) - start;
    Measured(both ? "both_us" : "alone_us", static_cast<double>(took.count()) / 1000);
    // What is on its way already, 1.5 BDP, comes before it, and 5 % go to the other.
    if (both) {
      EXPECT_LT(took, Scaled(alone, 1.06) + 3 * kRtt);
    }
    alone = took;
  }
}

// Section 14: beyond the unscheduled start no more than 1.5 BDP are on their way, of which one is
// in the links.
TEST(SirdScenario, AtMostHalfABdpQueuesAtTheReceiver) {
  constexpr uint32_t kSenders = 16;
  NetworkSpec spec = Spec("sird", kSenders + 1);
  spec.switches.queue_limit = 32 * kBdp;
  Network net(spec);
  const LinkId bottleneck = LinkTo(net.topology(), kSenders);
  net.ConnectIncast(kSenders);
  net.WriteAll();
  net.RunFor(40 * kRtt);  // sixteen unscheduled BDPs have gone
  net.Watch(bottleneck, Nanos(777));
  net.Mark();
  net.RunFor(100 * kRtt);
  EXPECT_LE(Measured("peak_bdps", Quantile(net.queues(), 1) / 150e3), 0.5);
  EXPECT_GT(Measured("utilisation", net.Utilisation(bottleneck)), 0.95);
}

// Host 0 sends to three receivers, and host 4 to the first of them. Host 0 can't use three lines,
// so it marks, and its buckets shrink until it holds little credit: host 4 gets what it leaves.
TEST(SirdScenario, ABusySenderDoesNotHoldCreditThatOthersCanUse) {
  NetworkSpec spec = Spec("sird", 5, {{"order", 1}});
  spec.switches.queue_limit = 32 * kBdp;
  Network net(spec);
  net.Connect({{0, 1}, {0, 2}, {0, 3}, {4, 1}});
  net.WriteAll();
  net.RunFor(Millis(2));
  net.Mark();
  double held = 0;
  constexpr int kSamples = 100;
  for (int i = 0; i < kSamples; ++i) {
    net.RunFor(Micros(20));
    for (uint32_t f = 0; f < 3; ++f) {
      held += Ratio(net.sender(f).allowance().credit, kBdp) / kSamples;
    }
  }
  const std::vector<double> rates = net.Rates();
  for (size_t f = 0; f < 4; ++f) Measured("rate_" + std::to_string(f), rates[f]);
  EXPECT_LT(Measured("held_bdps", held), 0.75);  // it marks above 0.5
  EXPECT_GT(rates[0] + rates[1] + rates[2], 0.9 * 100e9);
  EXPECT_GT(rates[3], 0.6 * 100e9);  // two thirds and what is fair to lose
}

// Section 15: no more is in flight than is admitted, and the rate bends where that is one BDP. The
// turn-round of a chunk adds its own time: half a BDP of it takes 6 us.
TEST(AdmissionScenario, TheRateFollowsTheBuffersUpToOneBdp) {
  for (const double bdps : {0.25, 0.5, 1.0, 2.0, 4.0}) {
    constexpr int kChunks = 8;
    Network net(Spec("admission", 2, {{"chunk", bdps * 150e3 / kChunks}, {"chunks", kChunks}}));
    net.ConnectIncast(1);
    net.WriteAll();
    net.RunFor(Micros(500));
    net.Mark();
    double most = 0;
    for (int i = 0; i < 100; ++i) {
      net.RunFor(Micros(5));
      most = std::max(most, Ratio(net.sender(0).in_flight(), kBdp));
    }
    const double share = Measured("share_" + std::to_string(bdps), net.Rates()[0] / 100e9);
    // Data and its acknowledgement are in flight as long as each other: at most what was admitted
    // and what has arrived, but is not acknowledged.
    EXPECT_LE(Measured("most_" + std::to_string(bdps), most), 2 * bdps + 0.1);
    if (bdps <= 0.5) {
      EXPECT_LT(share, bdps + 0.1);
      EXPECT_GT(share, 0.6 * bdps);
    }
    if (bdps >= 2) {
      EXPECT_GT(share, 0.95);
    }
  }
}

// What queues is what was admitted: with n senders of one BDP each n - 1 BDP.
TEST(AdmissionScenario, AnIncastQueuesWhatWasAdmitted) {
  for (const uint32_t senders : {2u, 8u}) {
    NetworkSpec spec = Spec("admission", senders + 1, {{"chunk", 150e3 / 8}, {"chunks", 8}});
    spec.switches.queue_limit = 32 * kBdp;
    Network net(spec);
    net.ConnectIncast(senders);
    net.WriteAll();
    net.RunFor(Millis(2));
    const LinkId bottleneck = LinkTo(net.topology(), senders);
    const double peak = Ratio(net.world().fabric().port(bottleneck).queue_peak, kBdp);
    EXPECT_LE(Measured("peak_" + std::to_string(senders), peak), senders);
  }
}

}  // namespace
}  // namespace weir
