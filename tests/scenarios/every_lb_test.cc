// What every policy of the registry must do to a fabric.
#include "gtest/gtest.h"
#include "tests/support/bottleneck.h"
#include "tests/support/plugin_checks.h"

namespace weir {
namespace {

constexpr Rate kRate = Gbps(100);
constexpr Duration kRtt = Micros(12);
constexpr uint32_t kSpines = 8;

class EveryLbScenario : public testing::TestWithParam<const LbEntry*> {
 protected:
  NetworkSpec Spec(uint32_t hosts_per_leaf = 1) const {
    NetworkSpec spec{.topology = LeafSpine({.leaves = 2,
                                            .hosts_per_leaf = hosts_per_leaf,
                                            .spines = kSpines,
                                            .rate = kRate,
                                            .delay = DelayFor(kRtt, kRate, 4)}),
                     .binding = Bind("none", {{"window", 140'000}}, GetParam()->name),
                     .endpoint = {.base_rtt = kRtt, .max_queue = kRtt}};
    spec.binding.paths = 256;
    return spec;
  }
  bool sprays() const { return GetParam()->reordering == Reordering::kAlways; }
  bool learns() const { return GetParam()->learns && sprays(); }
};

// LB-19.7: half of the paths are 5 us longer, without any congestion.
TEST_P(EveryLbScenario, PathsOfUnequalLengthCauseNoRetransmission) {
  NetworkSpec spec = Spec();
  for (LinkShape& link : spec.topology.links) {
    const NodeId spine = std::max(link.from, link.to);
    if (spine >= 4 && spine % 2 == 1) link.delay += Nanos(2'500);
  }
  spec.endpoint.base_rtt = kRtt + Micros(10);
  Network net(spec);
  net.Connect({{0, 1}});
  net.Write(0, Bytes(4'000'000));
  ASSERT_TRUE(net.RunToEnd(Millis(5)));
  EXPECT_EQ(net.counters().retransmitted_packets, 0u);
  EXPECT_EQ(net.counters().timeouts, 0u);
}

// LB-19.6: one of eight paths comes and goes each half millisecond, and routes do not follow. A
// policy that learns keeps seven eighths of its goodput; one that sprays blindly must still get
// everything through, and so must one on a single path that may be the bad one.
TEST_P(EveryLbScenario, AFlappingLinkDoesNotStopTraffic) {
  NetworkSpec spec = Spec();
  Network net(spec);
  net.Connect({{0, 1}});
  net.Write(0);
  net.RunFor(Micros(200));
  net.Mark();
  net.RunFor(Micros(500));
  const double healthy = net.Rates()[0];
  net.Add({{.kind = FaultKind::kLinkFlap,
            .target = LinkBetween(spec.topology, 2, 4),
            .at = net.now() - Time(0),
            .period = Millis(1)}},
          net.now() - Time(0) + Millis(5));
  net.Mark();
  net.RunFor(Millis(4));
  const double share = Measured("share", net.Rates()[0] / healthy);
  if (learns()) {
    EXPECT_GE(share, 7.0 / 8 - 0.05);
  } else {
    EXPECT_GT(share, 0.2);
  }
  EXPECT_FALSE(net.failed());
}

// Section 19 item 11: half of the ways back are dead. A policy that keeps to one path has one for
// its control packets, too, and leaves it when the peer repeats itself.
// T-PRR-2
TEST_P(EveryLbScenario, ADeadAcknowledgementPathEndsNoConnection) {
  for (const NodeId first : {4u, 5u}) {
    Network net(Spec());
    net.Connect({{0, 1}});
    net.Write(0);
    net.RunFor(Micros(700));
    net.Mark();
    net.RunFor(Micros(500));
    const double healthy = net.Rates()[0];
    for (NodeId spine = first; spine < 4 + kSpines; spine += 2) {
      net.world().fabric().SetImpairment(LinkBetween(net.topology(), spine, 2), {.loss = 1});
    }
    net.RunFor(Millis(3));
    net.Mark();
    net.RunFor(Millis(1));
    EXPECT_FALSE(net.failed());
    // Who sprays hears every second acknowledgement, and its window is one BDP. Of the 256 values
    // 60 % lead to one half of the spines here, and 40 % to the other.
    EXPECT_GT(Measured("share", net.Rates()[0] / healthy), 0.65);
  }
}

// LB-19.11: only acknowledgements meet the bad link, so no data path is to blame: nothing is sent
// twice but what silence makes doubtful, and no policy freezes.
TEST_P(EveryLbScenario, LosingAnEighthOfTheAcknowledgementsBlamesNoPath) {
  Network net(Spec());
  net.Connect({{0, 1}});
  net.Write(0);
  net.RunFor(Micros(200));
  net.Mark();
  net.RunFor(Micros(500));
  const double healthy = net.Rates()[0];
  net.world().fabric().SetImpairment(LinkBetween(net.topology(), 4, 2), {.loss = 1});
  net.Mark();
  net.RunFor(Millis(2));
  EXPECT_GT(Measured("share", net.Rates()[0] / healthy), 0.9);
  if (!sprays()) return;  // hit in full, or not at all
  EXPECT_EQ(net.counters().timeouts, 0u);
  EXPECT_EQ(net.counters().retransmitted_packets, 0u);
}

// The same seed draws the same paths, another draws others.
TEST_P(EveryLbScenario, TheSeedDecidesEveryPath) {
  const auto digest = [this](uint64_t seed) {
    NetworkSpec spec = Spec(4);
    spec.seed = seed;
    Network net(spec);
    std::vector<TrafficConnection> pairs;
    for (uint32_t h = 0; h < 4; ++h) pairs.push_back({h, 4 + (h + 1) % 4});
    net.Connect(pairs);
    net.WriteAll(Bytes(300'000));
    EXPECT_TRUE(net.RunToEnd(Millis(20)));
    net.RunFor(Millis(1));
    EXPECT_EQ(net.world().CheckConservation(), "");
    return net.world().digest();
  };
  EXPECT_EQ(digest(1), digest(1));
  EXPECT_NE(digest(1), digest(2));
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryLbScenario, testing::ValuesIn(Pointers(AllLb())),
                         EntryName<LbEntry>);

}  // namespace
}  // namespace weir
