// PowerTCP over one bottleneck: a queue of the sum of all beta, at full utilisation.
//
// Source: Addanki, Michel, Schmid, NSDI 2022. 100 Gb/s, 12 us, an
// acknowledgement a packet.
#include "cc_algos/powertcp.h"

#include "gtest/gtest.h"
#include "tests/support/bottleneck.h"

namespace weir {
namespace {

constexpr Rate kRate = Gbps(100);
constexpr Duration kRtt = Micros(12);
constexpr double kBdp = 150'000;
// Packets as small as in the model: 1024 bytes of payload.
constexpr uint16_t kSmall = 1024;
constexpr Bytes kSmallWire{kSmall + DataOverhead(false, InBand::kTelemetry)};
constexpr Duration kDelay = (kRtt - (kSmallWire / kRate + kAckWire / kRate) * 2) / 4;

const CcEntry& kPowerTcp = *FindCc("powertcp");
const CcEntry& kTheta = *FindCc("theta_powertcp");

NetworkSpec Spec(const CcEntry& entry, uint32_t senders, double beta_sum) {
  return {.topology = SingleBottleneck({.senders = senders, .rate = kRate, .delay = kDelay}),
          .binding = Bind(entry, {{"increase", beta_sum / kBdp / senders}}),
          .switches = {.telemetry = entry.needs.Has(Signal::kTelemetry)},
          .endpoint = {.base_rtt = kRtt, .max_queue = Millis(1), .payload_max = kSmall}};
}

struct Steady {
  double utilisation;
  double queue;  // mean
  double jain;
};
Steady Measure(const CcEntry& entry, uint32_t senders, double beta_sum) {
  Network net(Spec(entry, senders, beta_sum));
  const LinkId bottleneck = LinkTo(net.topology(), senders);
  net.ConnectIncast(senders);
  net.WriteAll();
  net.RunFor(Millis(2));
  net.Watch(bottleneck, Nanos(1'777));
  net.Mark();
  net.RunFor(Millis(3));
  double sum = 0;
  for (const double q : net.queues()) sum += q;
  return {.utilisation = net.Utilisation(bottleneck),
          .queue = sum / static_cast<double>(net.queues().size()),
          .jain = net.Jain()};
}

TEST(PowerTcpScenario, TheQueueIsTheSumOfTheIncreases) {
  for (const uint32_t n : {2u, 8u}) {
    const Steady steady = Measure(kPowerTcp, n, 30'000);
    Measured("utilisation_" + std::to_string(n), steady.utilisation);
    Measured("queue_" + std::to_string(n), steady.queue);
    Measured("jain_" + std::to_string(n), steady.jain);
    EXPECT_GT(steady.utilisation, 0.97) << n;
    EXPECT_NEAR(steady.queue, 30'000, 10'000) << n;
    EXPECT_GT(steady.jain, 0.99) << n;
  }
}

TEST(PowerTcpScenario, ThetaHoldsTheSumOfTheIncreasesToo) {
  for (const uint32_t n : {2u, 8u}) {
    const Steady steady = Measure(kTheta, n, 30'000);
    Measured("utilisation_" + std::to_string(n), steady.utilisation);
    Measured("queue_" + std::to_string(n), steady.queue);
    Measured("jain_" + std::to_string(n), steady.jain);
    EXPECT_GT(steady.utilisation, 0.97) << n;
    EXPECT_NEAR(steady.queue, 30'000, 10'000) << n;
    EXPECT_GT(steady.jain, 0.99) << n;
  }
}

// The second starts at line rate when the first has the link for itself: two round trips, and one
// until the first acknowledgement.
TEST(PowerTcpScenario, TwoSendersSplitTheLinkWithinRoundTrips) {
  Network net(Spec(kPowerTcp, 2, 3'000));
  net.ConnectIncast(2);
  net.Write(0);
  net.RunFor(Millis(2));
  net.Write(1);
  net.RunFor(4 * kRtt);
  net.Mark();
  net.RunFor(4 * kRtt);
  const double share = Measured("share", net.Rates()[1] / (net.Rates()[0] + net.Rates()[1]));
  EXPECT_NEAR(share, 0.5, 0.1);
}

}  // namespace
}  // namespace weir
