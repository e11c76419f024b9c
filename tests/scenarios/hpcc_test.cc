// HPCC over one bottleneck: utilisation eta + N W_AI / BDP as long as that is below 1, and a queue
// of N W_AI - (1 - eta) BDP beyond.
//
// Source: Li et al., SIGCOMM 2019, section 3.3. 100 Gb/s, 12 us, an acknowledgement a packet.
#include "cc_algos/hpcc.h"

#include "gtest/gtest.h"
#include "tests/support/bottleneck.h"

namespace weir {
namespace {

constexpr Rate kRate = Gbps(100);
constexpr Duration kRtt = Micros(12);
// Packets as small as in the model: 1024 bytes of payload.
constexpr uint16_t kSmall = 1024;
constexpr Bytes kSmallWire{kSmall + DataOverhead(false, InBand::kTelemetry)};
constexpr double kPacket = static_cast<double>(kSmallWire.count());
constexpr Duration kDelay = (kRtt - (kSmallWire / kRate + kAckWire / kRate) * 2) / 4;

NetworkSpec Spec(uint32_t senders, Params params) {
  return {.topology = SingleBottleneck({.senders = senders, .rate = kRate, .delay = kDelay}),
          .binding = Bind("hpcc", params),
          .switches = {.telemetry = true},
          .endpoint = {.base_rtt = kRtt, .max_queue = Millis(1), .payload_max = kSmall}};
}

struct Steady {
  double utilisation;
  double queue_mean;
  double queue_q99;
  double jain;
};
Steady Measure(uint32_t senders, Params params, Duration apart = Duration(0)) {
  Network net(Spec(senders, params));
  const LinkId bottleneck = LinkTo(net.topology(), senders);
  net.ConnectIncast(senders);
  for (uint32_t f = 0; f < senders; ++f) net.At(net.now() + f * apart, [&net, f] { net.Write(f); });
  net.RunFor(senders * apart + Millis(2));
  net.Watch(bottleneck, Nanos(1'777));
  net.Mark();
  net.RunFor(Millis(3));
  double sum = 0;
  for (const double q : net.queues()) sum += q;
  return {.utilisation = net.Utilisation(bottleneck),
          .queue_mean = sum / static_cast<double>(net.queues().size()),
          .queue_q99 = Quantile(net.queues(), 0.99),
          .jain = net.Jain()};
}

// T-HPCC-1
TEST(HpccScenario, UtilisationIsEtaAndTheIncreaseOfEverySender) {
  for (const uint32_t n : {1u, 2u, 8u}) {
    const Steady steady = Measure(n, {{"senders", 16}});
    Measured("utilisation_" + std::to_string(n), steady.utilisation);
    EXPECT_NEAR(steady.utilisation, 0.95 + n * 0.05 / 16, 0.01) << n;
  }
}

// T-HPCC-2
TEST(HpccScenario, TheQueueStaysBelowAPacketASender) {
  for (const uint32_t n : {2u, 8u}) {
    const Steady steady = Measure(n, {});
    Measured("mean_packets_" + std::to_string(n), steady.queue_mean / kPacket);
    Measured("q99_packets_" + std::to_string(n), steady.queue_q99 / kPacket);
    EXPECT_LT(steady.queue_mean, 3 * kPacket) << n;
    EXPECT_LT(steady.queue_q99, n * kPacket) << n;
  }
}

// N W_AI = 32 * 750 B = 24 kB is 16.5 kB more than the 7.5 kB that eta leaves free.
TEST(HpccScenario, MoreIncreaseThanEtaLeavesFreeStandsInTheQueue) {
  const Steady steady = Measure(32, {{"senders", 10}});
  Measured("utilisation", steady.utilisation);
  Measured("queue_mean", steady.queue_mean);
  EXPECT_GT(steady.utilisation, 0.99);
  EXPECT_NEAR(steady.queue_mean, 16'500, 0.3 * 16'500);
}

// T-HPCC-3: the second starts at line rate when the first has the link for itself.
TEST(HpccScenario, TwoSendersSplitTheLinkWithinRoundTrips) {
  Network net(Spec(2, {{"senders", 2}}));
  net.ConnectIncast(2);
  net.Write(0);
  net.RunFor(Millis(2));
  net.Write(1);
  net.RunFor(4 * kRtt);  // one until the first acknowledgement, one to look at, two to split
  net.Mark();
  net.RunFor(4 * kRtt);
  const double share = Measured("share", net.Rates()[1] / (net.Rates()[0] + net.Rates()[1]));
  EXPECT_NEAR(share, 0.5, 0.1);
}

// 32 start at once at line rate: what 31 BDPs too many take to drain to one, 38 RTTs in the model.
TEST(HpccScenario, ThirtyTwoLineRateStartsDrainInTensOfRtts) {
  constexpr uint32_t kSenders = 32;
  Network net(Spec(kSenders, {}));
  const LinkId bottleneck = LinkTo(net.topology(), kSenders);
  net.ConnectIncast(kSenders);
  net.WriteAll();
  net.RunFor(4 * kRtt);
  double rtts = 4;
  while (net.Queue(bottleneck) > kRate * kRtt && rtts < 200) {
    net.RunFor(kRtt / 2);
    rtts += 0.5;
  }
  EXPECT_NEAR(Measured("rtts", rtts), 38, 19);
}

// Who wants an empty queue starves beside who holds one of 0.75 BDP.
TEST(HpccScenario, BesideNsccItStarves) {
  NetworkSpec spec = Spec(2, {});
  spec.switches.mark_min = Bytes(30'000);
  spec.switches.mark_max = Bytes(120'000);
  Network net(spec);
  const Binding nscc = Bind("nscc");
  net.Connect({{0, 2}});
  net.Connect({{1, 2}}, &nscc);
  net.WriteAll();
  net.RunFor(Millis(3));
  net.Mark();
  net.RunFor(Millis(3));
  EXPECT_LT(Measured("share", net.Rates()[0] / (net.Rates()[0] + net.Rates()[1])), 0.1);
}

// T-HPCC-4: a warning. What makes senders equal is W_AI alone.
TEST(HpccScenario, ASmallIncreaseLeavesSendersUnequal) {
  const double small = Measured("jain_small", Measure(8, {{"senders", 1000}}, Micros(100)).jain);
  const double large = Measured("jain_large", Measure(8, {{"senders", 8}}, Micros(100)).jain);
  EXPECT_LT(small, 0.95);
  EXPECT_GT(large, 0.98);
}

}  // namespace
}  // namespace weir
