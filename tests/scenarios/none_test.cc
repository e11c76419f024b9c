// A fixed window over one bottleneck: what Little's law says, to the packet.
#include "gtest/gtest.h"
#include "tests/support/bottleneck.h"

namespace weir {
namespace {

constexpr Rate kRate = Gbps(100);
constexpr Duration kRtt = Micros(12);
constexpr double kBdp = 150'000;  // 100 Gb/s * 12 us
constexpr double kPacket = static_cast<double>(kMtu.count());

NetworkSpec Spec(uint32_t senders, Params params) {
  return {.topology =
              SingleBottleneck({.senders = senders, .rate = kRate, .delay = DelayFor(kRtt, kRate)}),
          .binding = Bind("none", params),
          .endpoint = {.max_queue = Millis(1)}};
}

TEST(NoneScenario, OneWindowBelowTheBdpGivesWindowOverRtt) {
  const CcEntry each = AckEachPacket("none");
  for (const int64_t packets : {1, 4, 16, 32}) {
    NetworkSpec spec = Spec(1, {});
    spec.binding = Bind(each, {{"window", static_cast<double>(packets) * kPacket}});
    Network net(spec);
    net.ConnectIncast(1);
    net.WriteAll();
    net.RunFor(Micros(200));
    net.Mark();
    net.RunFor(Millis(2));
    // W / T, as W < C T: nothing queues. 2 ms are 166 RTTs, so one packet more or less at the
    // edges of the interval is 0.6 % of a window of one.
    const double expected = static_cast<double>(packets) * kPacket * 8 / 12e-6;
    EXPECT_NEAR(net.Rates()[0], expected, 0.007 * expected) << packets;
  }
}

TEST(NoneScenario, AWindowBeyondTheBdpGivesTheLineRate) {
  Network net(Spec(1, {{"window", 3 * kBdp}}));
  const LinkId bottleneck = LinkTo(net.topology(), 1);
  net.ConnectIncast(1);
  net.WriteAll();
  net.RunFor(Micros(200));
  net.Mark();
  net.RunFor(Millis(1));
  EXPECT_GT(net.Utilisation(bottleneck), 0.9999);
  EXPECT_EQ(net.Queue(bottleneck), Bytes(0));  // it waits in the sender's own port instead
}

TEST(NoneScenario, TheConfiguredRateHoldsExactly) {
  Network net(Spec(1, {{"rate", 37e9}}));
  net.ConnectIncast(1);
  net.WriteAll();
  net.RunFor(Micros(200));
  net.Mark();
  net.RunFor(Millis(2));
  // 2 ms at 37 Gb/s are 2209.7 packets; acknowledgements cover up to four.
  EXPECT_NEAR(net.Rates()[0] / 37e9, 1, 5 / 2209.7);
}

// The queue in front of the bottleneck is what does not fit the pipe: N W - C T.
TEST(NoneScenario, NWindowsHoldAQueueOfNWindowsLessTheBdp) {
  for (const uint32_t n : {2u, 4u, 16u}) {
    const double window = 24 * kPacket;
    NetworkSpec spec = Spec(n, {});
    const CcEntry each = AckEachPacket("none");
    spec.binding = Bind(each, {{"window", window}});
    Network net(spec);
    const LinkId bottleneck = LinkTo(net.topology(), n);
    net.ConnectIncast(n);
    net.WriteAll();
    net.RunFor(Micros(500));
    net.Watch(bottleneck, Nanos(1'777));
    net.Mark();
    net.RunFor(Millis(1));
    const double expected = n * window - kBdp;
    Measured("queue_less_expected_" + std::to_string(n), Quantile(net.queues(), 0.5) - expected);
    // Samples do not see the packet in service, of which half is left on average.
    EXPECT_NEAR(Quantile(net.queues(), 0.5), expected, kPacket) << n;
    EXPECT_LT(Quantile(net.queues(), 1.0) - Quantile(net.queues(), 0.0), 2 * kPacket) << n;
    EXPECT_GT(net.Utilisation(bottleneck), 0.9999);
    EXPECT_GT(net.Jain(), 0.999);
    // Each gets its share, W / (T + q/C) = R/N.
    EXPECT_NEAR(net.Rates()[0], 100e9 / n, 0.01 * 100e9 / n);
  }
}

TEST(NoneScenario, TheQueueGrowsToTheBufferAndNotBeyond) {
  NetworkSpec spec = Spec(8, {});  // one BDP each: 7 BDPs would queue
  spec.switches.queue_limit = Bytes(300'000);
  spec.endpoint.max_queue = Micros(24);
  Network net(spec);
  const LinkId bottleneck = LinkTo(net.topology(), 8);
  net.ConnectIncast(8);
  net.WriteAll();
  net.RunFor(Millis(1));
  EXPECT_GT(net.world().fabric().port(bottleneck).queue_peak, Bytes(300'000) - kMtu);
  EXPECT_LE(net.world().fabric().port(bottleneck).queue_peak, Bytes(300'000));
  EXPECT_GT(net.fabric().dropped, 0u);
}

}  // namespace
}  // namespace weir
