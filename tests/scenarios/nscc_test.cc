// NSCC over one bottleneck: the standing queue is the delay target, because marks at a low delay
// change nothing. Source: UEC 1.0 section 3.6.13. Reference point: 100 Gb/s, 12 us.
//
// As in the model that the expected queues come from, switches mark packets as they arrive, each is
// acknowledged, and it has 4096 bytes on the wire: with few packets a window, its size shows.
#include "gtest/gtest.h"
#include "tests/support/bottleneck.h"

namespace weir {
namespace {

constexpr Duration kRtt = Micros(12);
constexpr double kBdp = 150'000;         // at 100 Gb/s
constexpr double kTarget = 0.75 * kBdp;  // with trimming: 0.75 base RTT
constexpr double kPacket = 4096;
constexpr uint16_t kNsccPayload = 4096 - DataOverhead(false);

const CcEntry kNscc = AckEachPacket("nscc");

// Marks from 0.2 to 0.8 BDP; trims above `trim_bdps`, or never.
NetworkSpec Spec(uint32_t senders, Rate rate = Gbps(100), double trim_bdps = 0) {
  const Bytes bdp = rate * kRtt;
  return {.topology =
              SingleBottleneck({.senders = senders, .rate = rate, .delay = DelayFor(kRtt, rate)}),
          .binding = Bind(kNscc),
          .switches = {.queue_limit = Scaled(bdp, trim_bdps),
                       .mark_min = bdp / 5,
                       .mark_max = bdp * 4 / 5,
                       .mark_on_enqueue = true,
                       .trimming = true},
          .endpoint = {.max_queue = trim_bdps > 0 ? kRtt : Millis(2), .payload_max = kNsccPayload}};
}

double MedianQueue(const NetworkSpec& spec, uint32_t senders) {
  Network net(spec);
  net.ConnectIncast(senders);
  net.WriteAll();
  // The start with 1.5 N BDPs in flight takes 57 RTTs to drain with N = 32, and as long again to
  // settle: the delay average has 80 acknowledgements of memory, 40 RTTs at two packets a window.
  net.RunFor(Millis(5));
  net.Watch(LinkTo(net.topology(), senders), Nanos(1'777));
  net.Mark();
  net.RunFor(Millis(2));
  EXPECT_GT(net.Utilisation(LinkTo(net.topology(), senders)), 0.999);
  return Quantile(net.queues(), 0.5);
}

// T-NSCC-5.
TEST(NsccScenario, TheStandingQueueIsTheTarget) {
  for (const uint32_t n : {2u, 8u, 32u}) {
    const double ratio = Measured("ratio_" + std::to_string(n), MedianQueue(Spec(n), n) / kTarget);
    EXPECT_GT(ratio, 0.95) << n;
    EXPECT_LT(ratio, 1.15) << n;
  }
}
TEST(NsccScenario, TheTargetScalesWithTheRate) {
  const double ratio = Measured("ratio", MedianQueue(Spec(8, Gbps(400)), 8) / (4 * kTarget));
  EXPECT_GT(ratio, 0.95);
  EXPECT_LT(ratio, 1.15);
}

// T-NSCC-6: a hundred senders with one packet each: q = N P - C T = 259.6 kB.
TEST(NsccScenario, AHundredSendersHoldOnePacketEach) {
  const double expected = 100 * kPacket - kBdp;
  EXPECT_NEAR(Measured("queue", MedianQueue(Spec(100), 100)), expected, 0.05 * expected);
}

// T-NSCC-7.
TEST(NsccScenario, AWindowIsCutAtMostOnceInARoundTrip) {
  constexpr uint32_t kSenders = 8;
  Network net(Spec(kSenders));
  net.ConnectIncast(kSenders);
  net.WriteAll();
  std::vector<uint64_t> before(kSenders, 0);
  uint64_t cuts = 0;
  for (int i = 0; i < 200; ++i) {
    net.RunFor(kRtt);
    for (uint32_t f = 0; f < kSenders; ++f) {
      const uint64_t now = net.sender(f).cc().counters()[1];
      EXPECT_LE(now - before[f], 1u);
      before[f] = now;
      cuts = std::max(cuts, now);
    }
  }
  EXPECT_GT(cuts, 5u);
}

// Two that start at line rate are within 15 % of each other after a few RTTs.
TEST(NsccScenario, TwoSendersAreFairAfterAFewRtts) {
  Network net(Spec(2));
  net.ConnectIncast(2);
  net.WriteAll();
  net.RunFor(4 * kRtt);
  net.Mark();
  net.RunFor(16 * kRtt);
  EXPECT_NEAR(net.Rates()[0] / 50e9, 1, 0.15);
  EXPECT_NEAR(net.Rates()[1] / 50e9, 1, 0.15);
}

// T-NSCC-8: quick adapt looks for the first time one base RTT and one target, 1.75 base RTTs, after
// the first acknowledgement or trim. Each window then falls to what it achieved since, together
// 1.75 BDPs: one in the pipe, and the target in the queue.
TEST(NsccScenario, QuickAdaptEndsAnIncastAtTheTarget) {
  constexpr uint32_t kSenders = 32;
  Network net(Spec(kSenders, Gbps(100), 1));
  const LinkId bottleneck = LinkTo(net.topology(), kSenders);
  net.ConnectIncast(kSenders);
  const Time start = net.now();
  net.WriteAll();
  Time first = Time::Never();
  Time all = Time::Never();
  while (all == Time::Never() && net.now() < start + 20 * kRtt) {
    net.RunFor(Nanos(500));
    uint32_t adapted = 0;
    for (uint32_t f = 0; f < kSenders; ++f) adapted += net.sender(f).cc().counters()[0] > 0;
    if (adapted > 0) first = std::min(first, net.now());
    if (adapted == kSenders) all = net.now();
  }
  ASSERT_NE(all, Time::Never());
  // The first word comes back after one base RTT at the soonest, after two with a full queue.
  Measured("first_adapt_rtts", Ratio(first - start, kRtt));
  Measured("last_adapt_rtts", Ratio(all - start, kRtt));
  EXPECT_GE(first - start, Scaled(kRtt, 2.7));
  EXPECT_LE(first - start, Scaled(kRtt, 3.9));
  Bytes windows{};
  for (uint32_t f = 0; f < kSenders; ++f) windows += net.window(f);
  EXPECT_NEAR(Measured("windows_bdps", static_cast<double>(windows.count()) / kBdp), 1.75, 0.5);

  net.RunFor(100 * kRtt);
  net.Watch(bottleneck, Nanos(777));
  net.Mark();
  net.RunFor(40 * kRtt);
  EXPECT_GT(net.Utilisation(bottleneck), 0.99);
  const double queue = Measured("queue", Quantile(net.queues(), 0.5));
  EXPECT_GT(queue, 0.5 * kTarget);
  EXPECT_LT(queue, 1.2 * kTarget);
  EXPECT_EQ(net.fabric().dropped, 0u);
}

}  // namespace
}  // namespace weir
