// BBR-like over one bottleneck: a full link, and a queue of at most one BDP, as twice one is in
// flight. 100 Gb/s, 12 us.
#include "cc_algos/bbr.h"

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
          .binding = Bind("bbr", params),
          .endpoint = {.max_queue = Millis(1)}};
}

TEST(BbrScenario, OneSenderFillsTheLinkWithAShortQueue) {
  Network net(Spec(1));
  const LinkId bottleneck = LinkTo(net.topology(), 1);
  net.ConnectIncast(1);
  net.WriteAll();
  net.RunFor(Millis(2));
  net.Watch(bottleneck, Nanos(1'777));
  net.Mark();
  net.RunFor(Millis(4));
  EXPECT_GT(Measured("utilisation", net.Utilisation(bottleneck)), 0.98);
  EXPECT_LT(Measured("queue_q99", Quantile(net.queues(), 0.99)), kBdp);
}

TEST(BbrScenario, SendersQueueAboutOneBdpTogether) {
  for (const uint32_t n : {2u, 8u}) {
    Network net(Spec(n));
    const LinkId bottleneck = LinkTo(net.topology(), n);
    net.ConnectIncast(n);
    net.WriteAll();
    net.RunFor(Millis(2));
    net.Watch(bottleneck, Nanos(1'777));
    net.Mark();
    net.RunFor(Millis(4));
    EXPECT_GT(Measured("utilisation_" + std::to_string(n), net.Utilisation(bottleneck)), 0.98);
    const double queue = Measured("queue_" + std::to_string(n), Quantile(net.queues(), 0.5) / kBdp);
    EXPECT_LT(queue, 1.5) << n;
    Measured("jain_" + std::to_string(n), net.Jain());
  }
}

// The queue that hides the empty path goes away for the time of a probe.
TEST(BbrScenario, ProbingForTheRttEmptiesTheQueue) {
  Network net(Spec(2, {{"rtt_interval", 100}, {"rtt_time", 5}}));
  const LinkId bottleneck = LinkTo(net.topology(), 2);
  net.ConnectIncast(2);
  net.WriteAll();
  net.RunFor(Millis(2));
  net.Watch(bottleneck, Nanos(1'777));
  net.RunFor(Millis(3));
  EXPECT_EQ(Quantile(net.queues(), 0.01), 0);
  EXPECT_GT(static_cast<const Bbr&>(net.sender(0).cc()).counters()[0], 0u);
  EXPECT_LT(static_cast<const Bbr&>(net.sender(0).cc()).min_rtt(), 2 * kRtt);
}

}  // namespace
}  // namespace weir
