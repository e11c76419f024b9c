// NSCC over one bottleneck: the standing queue is the delay target, because marks at a low delay
// change nothing. Source: UEC 1.0 section 3.6.13. Reference point: 100 Gb/s, 12 us.
#include "gtest/gtest.h"
#include "tests/support/bottleneck.h"

namespace weir {
namespace {

constexpr Duration kRtt = Micros(12);
constexpr double kBdp = 150'000;         // at 100 Gb/s
constexpr double kTarget = 0.75 * kBdp;  // with trimming: 0.75 base RTT
constexpr double kPacket = static_cast<double>(kMtu.count());

const CcEntry kNscc = AckEachPacket("nscc");

// Marks from 0.2 to 0.8 BDP; trims above `trim_bdps`, or never.
NetworkSpec Spec(uint32_t senders, Rate rate = Gbps(100), double trim_bdps = 0) {
  const Bytes bdp = rate * kRtt;
  return {.topology = SingleBottleneck(
              {.senders = senders, .rate = rate, .delay = DelayFor(kRtt, rate)}),
          .binding = Bind(kNscc),
          .switches = {.queue_limit = Scaled(bdp, trim_bdps),
                       .mark_min = bdp / 5,
                       .mark_max = bdp * 4 / 5,
                       .trimming = true},
          .endpoint = {.max_queue = trim_bdps > 0 ? kRtt : Millis(2)}};
}

double MedianQueue(const NetworkSpec& spec, uint32_t senders) {
  Network net(spec);
  net.ConnectIncast(senders);
  net.WriteAll();
  net.RunFor(Millis(2));  // 167 RTTs, of which the start with 1.5 N BDPs takes up to 57
  net.Watch(LinkTo(net.topology(), senders), Nanos(1'777));
  net.Mark();
  net.RunFor(Millis(2));
  EXPECT_GT(net.Utilisation(LinkTo(net.topology(), senders)), 0.999);
  return Quantile(net.queues(), 0.5);
}

// T-NSCC-5.
TEST(NsccScenario, TheStandingQueueIsTheTarget) {
  for (const uint32_t n : {2u, 8u, 32u}) {
    const double ratio = MedianQueue(Spec(n), n) / kTarget;
    EXPECT_GT(ratio, 0.95) << n;
    EXPECT_LT(ratio, 1.15) << n;
  }
}
TEST(NsccScenario, TheTargetScalesWithTheRate) {
  const double ratio = MedianQueue(Spec(8, Gbps(400)), 8) / (4 * kTarget);
  EXPECT_GT(ratio, 0.95);
  EXPECT_LT(ratio, 1.15);
}

// T-NSCC-6: a hundred senders with one packet each: q = N P - C T = 268.6 kB.
TEST(NsccScenario, AHundredSendersHoldOnePacketEach) {
  const double expected = 100 * kPacket - kBdp;
  EXPECT_NEAR(MedianQueue(Spec(100), 100), expected, 0.05 * expected);
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
  EXPECT_GE(first - start, Scaled(kRtt, 2.7));
  EXPECT_LE(first - start, Scaled(kRtt, 3.9));
  Bytes windows{};
  for (uint32_t f = 0; f < kSenders; ++f) windows += net.window(f);
  EXPECT_NEAR(static_cast<double>(windows.count()) / kBdp, 1.75, 0.5);

  net.RunFor(20 * kRtt);
  net.Watch(bottleneck, Nanos(777));
  net.Mark();
  net.RunFor(40 * kRtt);
  EXPECT_GT(net.Utilisation(bottleneck), 0.99);
  EXPECT_GT(Quantile(net.queues(), 0.5), 0.5 * kTarget);
  EXPECT_LT(Quantile(net.queues(), 0.5), 1.2 * kTarget);
  EXPECT_EQ(net.fabric().dropped, 0u);
}

}  // namespace
}  // namespace weir
