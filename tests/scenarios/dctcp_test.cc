// DCTCP over one bottleneck, against the synchronised model of Alizadeh, Javanmard, Prabhakar,
// SIGMETRICS 2011: with W* = (C T + K) / N packets, q_max = K + N packets.
//
// The model acknowledges each packet and marks as a packet arrives; so do these tests. Packets are
// 4186 bytes on the wire.
#include "cc_algos/dctcp.h"

#include "gtest/gtest.h"
#include "tests/support/bottleneck.h"

namespace weir {
namespace {

constexpr Rate kRate = Gbps(100);
constexpr Duration kRtt = Micros(12);
constexpr double kBdp = 150'000;  // 100 Gb/s * 12 us
constexpr double kPacket = static_cast<double>(kMtu.count());

const CcEntry kDctcp = AckEachPacket("dctcp");

NetworkSpec Spec(uint32_t senders, int64_t mark_above_packets) {
  return {.topology =
              SingleBottleneck({.senders = senders, .rate = kRate, .delay = DelayFor(kRtt, kRate)}),
          .binding = Bind(kDctcp),
          .switches = {.mark_min = kMtu * mark_above_packets,
                       .mark_max = kMtu * mark_above_packets,
                       .mark_on_enqueue = true},
          .endpoint = {.max_queue = Millis(1)}};
}

const Dctcp& AlgorithmOf(Network& net, uint32_t flow) {
  return static_cast<const Dctcp&>(net.sender(flow).cc());
}

// T-DCTCP-1: the peak is K + N packets, as long as 2 N packets fit C T + K.
TEST(DctcpScenario, TheQueuePeaksAtTheThresholdAndOnePacketASender) {
  for (const uint32_t n : {2u, 8u, 16u}) {
    constexpr int64_t kThreshold = 11;
    Network net(Spec(n, kThreshold));
    net.ConnectIncast(n);
    net.WriteAll();
    net.RunFor(Millis(3));  // 250 RTTs
    net.Watch(LinkTo(net.topology(), n), Nanos(1'777));
    net.RunFor(Millis(3));
    // Samples leave out the packet in service.
    const double q99 =
        Measured("q99_packets_" + std::to_string(n), Quantile(net.queues(), 0.99) / kPacket + 1);
    EXPECT_NEAR(q99, kThreshold + n, 1) << n;
  }
}

// T-DCTCP-2: K > C T / 7 keeps the link busy: 150 kB / 7 = 21.4 kB, 5.1 packets.
TEST(DctcpScenario, AThresholdAboveASeventhOfTheBdpKeepsTheLinkBusy) {
  for (const int64_t threshold : {6, 11, 20}) {
    Network net(Spec(2, threshold));
    net.ConnectIncast(2);
    net.WriteAll();
    net.RunFor(Millis(3));
    net.Mark();
    net.RunFor(Millis(3));
    const double utilisation = Measured("utilisation_" + std::to_string(threshold),
                                        net.Utilisation(LinkTo(net.topology(), 2)));
    EXPECT_GT(utilisation, 0.995) << threshold;
    EXPECT_GT(net.Jain(), 0.99) << threshold;
  }
}

// And from the other side: no room above the threshold for the cut of one window.
TEST(DctcpScenario, AThresholdOfOnePacketDoesNot) {
  Network net(Spec(2, 1));
  net.ConnectIncast(2);
  net.WriteAll();
  net.RunFor(Millis(3));
  net.Mark();
  net.RunFor(Millis(3));
  const double utilisation = Measured("utilisation", net.Utilisation(LinkTo(net.topology(), 2)));
  EXPECT_LT(utilisation, 0.98);
}

// T-DCTCP-3: a second sender is within 15 % of its share after tens to hundreds of RTTs. The model
// says 73; ours does not grow on marked acknowledgements and starts at alpha = 1, a full window and
// a full queue, and so takes longer.
TEST(DctcpScenario, ASecondSenderHasItsShareAfterTensToHundredsOfRtts) {
  Network net(Spec(2, 11));
  net.ConnectIncast(2);
  net.Write(0);
  net.RunFor(Millis(2));
  net.Write(1);
  int rounds = 0;
  bool fair = false;
  while (!fair && rounds < 500) {
    net.Mark();
    net.RunFor(16 * kRtt);
    rounds += 16;
    const std::vector<double> rates = net.Rates();
    fair = std::abs(rates[0] / 50e9 - 1) < 0.15 && std::abs(rates[1] / 50e9 - 1) < 0.15;
  }
  Measured("rtts", rounds);
  EXPECT_GT(rounds, 16);
  EXPECT_LE(rounds, 300);
}

// T-DCTCP-4: 32 senders cannot go below two packets each. All packets are marked, alpha is 1, and
// the windows stay at the floor: q = 2 N P - C T = 64 * 4186 B - 150 kB = 118 kB. A model that
// grows on marked acknowledgements, too, moves between two and three packets and has twice that
// queue.
TEST(DctcpScenario, TooManySendersHoldTheFloorOfTheWindow) {
  constexpr uint32_t kSenders = 32;
  Network net(Spec(kSenders, 11));
  net.ConnectIncast(kSenders);
  net.WriteAll();
  net.RunFor(Millis(5));
  net.Watch(LinkTo(net.topology(), kSenders), Nanos(1'777));
  net.Mark();
  net.RunFor(Millis(2));
  for (uint32_t f = 0; f < kSenders; ++f) {
    EXPECT_EQ(net.window(f), 2 * kMtu);
    EXPECT_GT(AlgorithmOf(net, f).alpha(), 0.999);  // 1 - (15/16)^(5 ms / 23 us) and more
  }
  const double queue = Measured("queue", Quantile(net.queues(), 0.5));
  EXPECT_NEAR(queue, 2 * kSenders * kPacket - kBdp, 2 * kPacket);
  EXPECT_GT(net.Utilisation(LinkTo(net.topology(), kSenders)), 0.9999);
}

// A cut takes alpha W/2 packets, which grow back in as many RTTs; then marks come for one RTT, in
// which ours does not grow. So the marked fraction is alpha = 1 / (alpha W/2 + 1), with W = (35.8 +
// 11) / 2 = 23.4 packets: 0.253. A model that grows on marked acknowledgements has sqrt(2/W) =
// 0.29; one that cuts twice for the marks of one queue, 0.19.
TEST(DctcpScenario, AlphaIsTheMarkedFractionOfItsOwnSawtooth) {
  Network net(Spec(2, 11));
  net.ConnectIncast(2);
  net.WriteAll();
  net.RunFor(Millis(3));
  double sum = 0;
  constexpr int kSamples = 200;
  for (int i = 0; i < kSamples; ++i) {
    net.RunFor(kRtt);
    sum += AlgorithmOf(net, 0).alpha();
  }
  const double window = (kBdp / kPacket + 11) / 2;
  const double expected = (std::sqrt(1 + 2 * window) - 1) / window;
  const double alpha = Measured("alpha", sum / kSamples);
  EXPECT_NEAR(alpha, expected, 0.15 * expected);
}

}  // namespace
}  // namespace weir
