// Rates that follow probes, over one bottleneck: N equal senders have a target of base RTT (1 +
// headroom + slope (1 - 1/N)), and the queue is what that leaves. 100 Gb/s, 12 us.
#include "gtest/gtest.h"
#include "tests/support/bottleneck.h"

namespace weir {
namespace {

constexpr Rate kRate = Gbps(100);
constexpr Duration kRtt = Micros(12);
constexpr double kBdp = 150'000;

NetworkSpec Spec(uint32_t senders, Params params = {}) {
  return {.topology =
              SingleBottleneck({.senders = senders, .rate = kRate, .delay = DelayFor(kRtt, kRate)}),
          .binding = Bind("rtt_probe", params),
          .endpoint = {.max_queue = Millis(1)}};
}

TEST(RttProbeScenario, TheQueueIsTheDelayOfTheTarget) {
  for (const uint32_t n : {2u, 8u}) {
    Network net(Spec(n));
    const LinkId bottleneck = LinkTo(net.topology(), n);
    net.ConnectIncast(n);
    net.WriteAll();
    net.RunFor(Millis(3));
    net.Watch(bottleneck, Nanos(1'777));
    net.Mark();
    net.RunFor(Millis(3));
    const double expected = (0.25 + 0.1 * (1 - 1.0 / n)) * kBdp;
    const double queue = Measured("queue_" + std::to_string(n), Quantile(net.queues(), 0.5));
    Measured("expected_" + std::to_string(n), expected);
    Measured("jain_" + std::to_string(n), net.Jain());
    EXPECT_NEAR(queue, expected, 0.25 * expected) << n;
    EXPECT_GT(Measured("utilisation_" + std::to_string(n), net.Utilisation(bottleneck)), 0.98) << n;
    EXPECT_GT(net.Jain(), 0.98) << n;
  }
}

// With more probes under way than a connection remembers, those that are awaited are not forgotten.
TEST(RttProbeScenario, ProbesAreHeardThoughTheRttIsManyIntervals) {
  Network net(Spec(2, {{"interval", 500}}));
  const LinkId bottleneck = LinkTo(net.topology(), 2);
  net.ConnectIncast(2);
  net.WriteAll();
  net.RunFor(Millis(2));
  EXPECT_GT(net.sender(0).cc().counters()[0], 0u);
  net.Watch(bottleneck, Nanos(1'777));
  net.RunFor(Millis(1));
  EXPECT_LT(Measured("queue", Quantile(net.queues(), 0.5)), kBdp / 2);
}

// A second sender that starts when the first has the link for itself.
TEST(RttProbeScenario, ASecondSenderGetsItsShareInTensOfRtts) {
  Network net(Spec(2));
  net.ConnectIncast(2);
  net.Write(0);
  net.RunFor(Millis(2));
  net.Write(1);
  net.RunFor(100 * kRtt);
  net.Mark();
  net.RunFor(100 * kRtt);
  EXPECT_GT(Measured("jain", net.Jain()), 0.95);
}

}  // namespace
}  // namespace weir
