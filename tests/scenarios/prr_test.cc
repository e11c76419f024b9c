// PRR: connections that leave dead paths. Source: Wetherall et al., SIGCOMM 2023.
#include "lb_policies/prr.h"

#include "gtest/gtest.h"
#include "tests/support/bottleneck.h"

namespace weir {
namespace {

constexpr Rate kRate = Gbps(100);
constexpr Duration kRtt = Micros(12);
constexpr Duration kRto = Micros(100);

// T-PRR-1: four of eight spines die under sixteen connections. Each attempt finds a working path
// with probability 1/2: two attempts on average, with a standard deviation of sqrt(2); the k-th at
// RTO (2^k - 1) after the last acknowledgement. Here it takes up to twice as long: a probe finds
// the losses before the time-out, and what is sent again, on the same path, has a time-out of its
// own.
TEST(PrrScenario, EachAttemptSucceedsWithTheWorkingPartOfThePaths) {
  double attempts = 0;
  int cut_off = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    NetworkSpec spec{.topology = LeafSpine({.leaves = 2,
                                            .hosts_per_leaf = 1,
                                            .spines = 8,
                                            .rate = kRate,
                                            .delay = DelayFor(kRtt, kRate, 4)}),
                     .binding = Bind("none", {{"window", 8e3}}, "prr"),
                     .endpoint = {.rto_min = kRto},
                     .seed = seed};
    spec.binding.paths = 4096;
    Network net(spec);
    constexpr uint32_t kConnections = 16;
    net.Connect(std::vector<TrafficConnection>(kConnections, {0, 1}));
    net.WriteAll();
    net.RunFor(Micros(200));
    for (uint32_t s = 0; s < 4; ++s) {
      const LinkId link = LinkBetween(net.topology(), 2, 4 + s);
      net.world().fabric().SetImpairment(link, {.loss = 1});
    }
    const Time failure = net.now();
    std::vector<Time> back(kConnections, Time::Never());
    std::vector<uint64_t> acked(kConnections);
    std::vector<Duration> rto(kConnections);
    while (net.now() < failure + Millis(30)) {
      net.RunFor(Micros(5));
      for (uint32_t f = 0; f < kConnections; ++f) {
        // What had passed the switch arrives within a round trip; from then on it is news.
        const uint64_t now = net.sender(f).stats().acked_bytes;
        if (net.now() < failure + 2 * kRtt) {
          acked[f] = now;
          rto[f] = net.sender(f).rtt().timeout();
        }
        if (now > acked[f]) back[f] = std::min(back[f], net.now());
      }
    }
    for (uint32_t f = 0; f < kConnections; ++f) {
      ASSERT_NE(back[f], Time::Never()) << f;
      const uint64_t moves = net.sender(f).lb().counters()[0];
      if (moves == 0) {
        EXPECT_LT(back[f] - failure, 3 * kRtt);
        continue;
      }
      ++cut_off;
      attempts += static_cast<double>(moves);
      const Duration expected = rto[f] * ((int64_t{1} << moves) - 1);
      EXPECT_GE(back[f] - failure, expected) << moves;
      EXPECT_LE(back[f] - failure, 2 * expected + 8 * kRtt) << moves;
    }
  }
  EXPECT_NEAR(cut_off, 48, 3 * 4.9);  // 96 draws: sqrt(96 / 4)
  Measured("cut_off", cut_off);
  const double mean = Measured("mean_attempts", attempts / cut_off);
  EXPECT_NEAR(mean, 2, 3 * std::sqrt(2.0 / cut_off));
}

}  // namespace
}  // namespace weir
