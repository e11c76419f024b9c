// Swift over one bottleneck: the queue follows from the delay target, by
//
//   w = (C T + q) / (N P),   q = (target(w) - T) C
//
// Source: Kumar et al., SIGCOMM 2020, section 3. 100 Gb/s, T = 20 us, base target 25 us.
#include "cc_algos/swift.h"

#include "gtest/gtest.h"
#include "tests/support/bottleneck.h"

namespace weir {
namespace {

constexpr Rate kRate = Gbps(100);
constexpr Duration kRtt = Micros(20);
constexpr double kBdp = 250'000;
constexpr double kBytesPerNano = 12.5;  // 100 Gb/s
constexpr double kPacket = static_cast<double>(kMtu.count());
constexpr double kNoScaling = 1;  // ns of flow scaling: practically none

const CcEntry kSwift = AckEachPacket("swift");

NetworkSpec Spec(uint32_t senders, Params params) {
  return {.topology =
              SingleBottleneck({.senders = senders, .rate = kRate, .delay = DelayFor(kRtt, kRate)}),
          .binding = Bind(kSwift, params),
          .endpoint = {.max_queue = Millis(2)}};
}

const Swift& AlgorithmOf(Network& net, uint32_t flow) {
  return static_cast<const Swift&>(net.sender(flow).cc());
}

double MedianQueue(uint32_t senders, Params params) {
  Network net(Spec(senders, params));
  net.ConnectIncast(senders);
  net.WriteAll();
  net.RunFor(Millis(4));  // 200 RTTs
  net.Watch(LinkTo(net.topology(), senders), Nanos(1'777));
  net.Mark();
  net.RunFor(Millis(4));
  EXPECT_GT(net.Utilisation(LinkTo(net.topology(), senders)), 0.99) << senders;
  return Quantile(net.queues(), 0.5);
}

// T-SWIFT-2, without flow scaling: (25 - 20) us C = 62.5 kB, and between cuts the N senders grow by
// a packet each RTT, of which 0.2 to 0.8 stand in the queue on average.
TEST(SwiftScenario, TheQueueIsTheTargetAndAFractionOfAPacketASender) {
  for (const uint32_t n : {2u, 8u, 32u}) {
    const double queue =
        Measured("queue_" + std::to_string(n), MedianQueue(n, {{"fs_range", kNoScaling}}));
    EXPECT_GT(queue, (62'500 + 0.2 * n * kPacket) * 0.9) << n;
    EXPECT_LT(queue, (62'500 + 0.8 * n * kPacket) * 1.1) << n;
  }
}

// T-SWIFT-2, with it: the fixed point by iteration.
TEST(SwiftScenario, FlowScalingHoldsTheQueueOfItsFixedPoint) {
  for (const uint32_t n : {2u, 8u, 32u}) {
    const double alpha = 125'000 / (1 / std::sqrt(0.1) - 1 / std::sqrt(100.0));
    double low = 0;
    double high = 2e6;
    for (int i = 0; i < 60; ++i) {
      const double queue = (low + high) / 2;
      const double window = (kBdp + queue) / (n * kPacket);
      const double scaling = std::clamp(alpha / std::sqrt(window) - alpha / 10, 0.0, 125'000.0);
      (queue < (25'000 + scaling - 20'000) * kBytesPerNano ? low : high) = queue;
    }
    const double queue = Measured("queue_" + std::to_string(n), MedianQueue(n, {}));
    Measured("expected_" + std::to_string(n), low);
    EXPECT_NEAR(queue, low, 0.2 * low) << n;
  }
}

// A second sender starts when the first has the link for itself; both with the other's share of
// `share` after how many RTTs? Averages over 16 RTTs.
int RttsUntilFair(Params params) {
  Network net(Spec(2, params));
  net.ConnectIncast(2);
  net.Write(0);
  net.RunFor(Millis(4));
  net.Write(1);
  for (int rtts = 16; rtts <= 1000; rtts += 16) {
    net.Mark();
    net.RunFor(16 * kRtt);
    const double share = net.Rates()[1] / 50e9;
    if (std::abs(share - 1) < 0.15) return rtts;
  }
  return 1000;
}

// T-SWIFT-3.
TEST(SwiftScenario, FlowScalingMakesTwoSendersFairInTensOfRtts) {
  EXPECT_LE(Measured("rtts", RttsUntilFair({})), 100);  // the model says 32
}

TEST(SwiftScenario, WithoutFlowScalingEightSendersStayLessFair) {
  double jain[2] = {};
  for (const bool scaling : {false, true}) {
    Network net(scaling ? Spec(8, {}) : Spec(8, {{"fs_range", kNoScaling}}));
    net.ConnectIncast(8);
    for (uint32_t f = 0; f < 8; ++f)
      net.At(net.now() + f * Micros(200), [&net, f] { net.Write(f); });
    net.RunFor(Millis(4));
    net.Mark();
    net.RunFor(Millis(8));
    jain[scaling] = Measured(scaling ? "jain_with" : "jain_without", net.Jain());
  }
  EXPECT_GT(jain[1], 0.99);
  EXPECT_LT(jain[0], jain[1]);
}

// T-SWIFT-4: with windows below one packet, a thousand senders queue no more than the target
// allows: base target + fs_range = 150 us, so (150 - 20) us C = 1625 kB, which a thousand packets
// would exceed 2.5 times. Half as many have the queue of their own fixed point, not half of it.
TEST(SwiftScenario, AThousandSendersQueueByTheTargetNotByTheirNumber) {
  constexpr double kBound = (25'000 + 125'000 - 20'000) * kBytesPerNano;
  double queue[2] = {};
  for (const uint32_t n : {500u, 1000u}) {
    NetworkSpec spec = Spec(n, {{"initial_window", 0.02}});
    Network net(spec);
    const LinkId bottleneck = LinkTo(net.topology(), n);
    net.ConnectIncast(n);
    net.WriteAll();
    net.RunFor(Millis(6));
    net.Watch(bottleneck, Nanos(7'777));
    net.Mark();
    net.RunFor(Millis(4));
    double windows = 0;
    for (uint32_t f = 0; f < n; ++f) windows += AlgorithmOf(net, f).window();
    EXPECT_LT(Measured("window_" + std::to_string(n), windows / n), 1) << n;
    EXPECT_GT(net.Utilisation(bottleneck), 0.99) << n;
    queue[n / 1000] = Measured("queue_" + std::to_string(n), Quantile(net.queues(), 0.5));
    EXPECT_LT(queue[n / 1000], 1.2 * kBound) << n;
  }
  EXPECT_LT(queue[1] / queue[0], 1.5);
}

}  // namespace
}  // namespace weir
