// Sprayed over eight paths of which one is much longer: the newest sample of one path tells little
// of the network, the median over paths does.
//
// Source: Gerstein, Silberstein, Keslassy, arXiv 2509.07907.
#include "gtest/gtest.h"
#include "tests/support/bottleneck.h"

namespace weir {
namespace {

constexpr Rate kRate = Gbps(100);
constexpr Duration kRtt = Micros(12);

// One sender's share of its link.
double ShareOf(const char* algorithm, Duration longer) {
  Topology topology = LeafSpine({.leaves = 2,
                                 .hosts_per_leaf = 1,
                                 .spines = 8,
                                 .rate = kRate,
                                 .delay = DelayFor(kRtt, kRate, 4)});
  topology.links[LinkBetween(topology, 2, 4)].delay += longer;  // to the first spine
  Network net({.topology = topology,
               .binding = Bind(algorithm, {}, "oblivious"),
               .endpoint = {.base_rtt = kRtt, .max_queue = 4 * longer + kRtt}});
  net.Connect({{0, 1}});
  net.WriteAll();
  net.RunFor(Millis(1));
  net.Mark();
  net.RunFor(Millis(2));
  EXPECT_EQ(net.counters().retransmitted_packets, 0u);
  return net.Utilisation(LinkBetween(net.topology(), 0, 2));
}

TEST(MedianOverPathsScenario, OneLongPathOfEightHoldsSwiftBackButNotItsMedian) {
  const double swift = Measured("swift", ShareOf("swift", Micros(15)));
  const double mswift = Measured("mswift", ShareOf("mswift", Micros(15)));
  // Of seven samples four are of the long path now and then: one time in 160.
  EXPECT_LT(swift, 0.8);
  EXPECT_GT(mswift, 0.9);
}

TEST(MedianOverPathsScenario, WithPathsOfOneLengthTheyAreTheSame) {
  EXPECT_GT(Measured("swift", ShareOf("swift", Duration(0))), 0.95);
  EXPECT_GT(Measured("mswift", ShareOf("mswift", Duration(0))), 0.95);
}

}  // namespace
}  // namespace weir
