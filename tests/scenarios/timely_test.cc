// TIMELY and its patched form over one bottleneck. The patched form ends at equal rates and
//
//   rtt = t_low (1 + N delta / (beta C)),   q = (rtt - T) C
//
// Source: Zhu, Ghobadi, Misra, Padhye, CoNEXT 2016. 10 Gb/s, T = 20 us, t_low 50 us.
#include "gtest/gtest.h"
#include "tests/support/bottleneck.h"

namespace weir {
namespace {

constexpr Rate kRate = Gbps(10);
constexpr Duration kRtt = Micros(20);
constexpr double kBytesPerNano = 1.25;

// Those of the source, without a window.
const Params kOriginal = {{"t_low", 50'000}, {"t_high", 500'000}, {"window_bdps", 0}};
const Params kPatched = {
    {"t_low", 50'000}, {"t_high", 500'000}, {"window_bdps", 0}, {"beta", 0.008}};

NetworkSpec Spec(const char* algorithm, uint32_t senders, Params params) {
  return {.topology =
              SingleBottleneck({.senders = senders, .rate = kRate, .delay = DelayFor(kRtt, kRate)}),
          .binding = Bind(algorithm, params),
          .endpoint = {.max_queue = Millis(10)}};
}

// T-TIMELY-1
TEST(TimelyScenario, ThePatchedFormHoldsTheQueueOfItsFixedPoint) {
  for (const uint32_t n : {2u, 8u}) {
    Network net(Spec("timely_patched", n, kPatched));
    const LinkId bottleneck = LinkTo(net.topology(), n);
    net.ConnectIncast(n);
    net.WriteAll();
    net.RunFor(Millis(60));
    net.Watch(bottleneck, Nanos(7'777));
    net.Mark();
    net.RunFor(Millis(40));
    double sum = 0;
    for (const double q : net.queues()) sum += q;
    const double queue = sum / static_cast<double>(net.queues().size());
    const double expected = (50'000 * (1 + n * 0.001 / 0.008) - 20'000) * kBytesPerNano;
    Measured("queue_" + std::to_string(n), queue);
    Measured("expected_" + std::to_string(n), expected);
    EXPECT_NEAR(queue, expected, 0.05 * expected) << n;
    EXPECT_GT(net.Jain(), 0.999) << n;
    EXPECT_GT(net.Utilisation(bottleneck), 0.99) << n;
  }
}

// T-TIMELY-3: the second starts at line rate when the first has the link for itself. The model says
// 360 RTTs.
TEST(TimelyScenario, ThePatchedFormMakesTwoSendersFairInHundredsOfRtts) {
  Network net(Spec("timely_patched", 2, kPatched));
  net.ConnectIncast(2);
  net.Write(0);
  net.RunFor(Millis(10));
  net.Write(1);
  int unfair_until = 0;
  for (int rtts = 16; rtts <= 1600; rtts += 16) {
    net.Mark();
    net.RunFor(16 * kRtt);
    const std::vector<double> rates = net.Rates();
    const bool fair = std::abs(rates[0] / 5e9 - 1) < 0.15 && std::abs(rates[1] / 5e9 - 1) < 0.15;
    if (!fair) unfair_until = rtts;
  }
  EXPECT_LE(Measured("rtts", unfair_until), 800);
}

// T-TIMELY-2: any split is stationary, so only the link is asked for. A packet of the other sender
// that happens to be in front is a rise of the RTT, too, which is cut for and never given back; so
// packets are small.
TEST(TimelyScenario, TheOriginalFillsTheLinkFromAnUnequalStart) {
  NetworkSpec spec = Spec("timely", 2, kOriginal);
  spec.endpoint.payload_max = 1024;
  Network net(spec);
  const LinkId bottleneck = LinkTo(net.topology(), 2);
  net.ConnectIncast(2);
  net.Write(0);
  net.RunFor(Millis(10));
  net.Write(1);
  net.RunFor(Millis(100));
  net.Mark();
  net.RunFor(Millis(40));
  Measured("jain", net.Jain());
  EXPECT_GT(Measured("utilisation", net.Utilisation(bottleneck)), 0.95);
}

}  // namespace
}  // namespace weir
