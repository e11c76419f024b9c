#include "testbed/fabric/topology.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "testbed/fabric/tiers.h"

namespace weir {
namespace {

size_t CountTier(const Topology& topology, uint8_t tier) {
  return static_cast<size_t>(std::ranges::count(topology.tier, tier));
}

size_t LinksBetween(const Topology& topology, NodeId from, NodeId to) {
  return static_cast<size_t>(std::ranges::count_if(
      topology.links, [&](const LinkShape& l) { return l.from == from && l.to == to; }));
}

void ExpectPaired(const Topology& topology) {
  for (LinkId l = 0; l < topology.links.size(); ++l) {
    const LinkShape& there = topology.links[l];
    const LinkShape& back = topology.links[there.reverse];
    EXPECT_EQ(back.reverse, l);
    EXPECT_EQ(back.from, there.to);
    EXPECT_EQ(back.to, there.from);
    EXPECT_NE(there.reverse, l);
  }
}

TEST(TopologyTest, ACableIsTwoLinksThatNameEachOther) {
  Topology topology;
  EXPECT_EQ(AddCable(topology, 0, 1, Gbps(1), Nanos(5)), 0u);
  EXPECT_EQ(AddCable(topology, 1, 2, Gbps(2), Nanos(6)), 2u);
  ASSERT_EQ(topology.links.size(), 4u);
  EXPECT_EQ(topology.links[3].from, 2u);
  EXPECT_EQ(topology.links[3].rate, Gbps(2));
  EXPECT_EQ(topology.links[3].delay, Nanos(6));
  ExpectPaired(topology);
}

TEST(TopologyTest, SingleBottleneckPutsTheReceiverLast) {
  const Topology topology = SingleBottleneck({.senders = 8});
  EXPECT_EQ(topology.hosts, 9u);
  EXPECT_EQ(topology.nodes(), 10u);
  EXPECT_EQ(topology.links.size(), 18u);  // 9 cables
  EXPECT_EQ(LinksBetween(topology, 9, 8), 1u);
  EXPECT_EQ(topology.name, "single_bottleneck 9 hosts");
  ExpectPaired(topology);
}

TEST(TopologyTest, NicsOfEqualNumberMeetOnOneLeaf) {
  const Topology topology =
      RailOptimised({.groups = 2, .nodes_per_group = 3, .rails = 4, .spines = 2});
  EXPECT_EQ(topology.hosts, 24u);
  const Routes routes(topology);
  EXPECT_EQ(routes.Hops(0, 4), 2u);      // rail 0 of the next node
  EXPECT_EQ(routes.Hops(0, 1), 4u);      // rail 1 of the same node
  EXPECT_EQ(routes.Hops(0, 3 * 4), 4u);  // rail 0 of the other group
}

TEST(TopologyTest, PlanesHaveNoWayToEachOther) {
  const Topology topology =
      RailOptimised({.groups = 2, .nodes_per_group = 3, .rails = 4, .spines = 2, .planes = true});
  const Routes routes(topology);
  EXPECT_EQ(routes.Hops(0, 3 * 4), 4u);
  EXPECT_EQ(routes.Hops(0, 1), 0u);
}

TEST(TopologyTest, DumbbellSharesOneLinkOfItsOwnRate) {
  const Topology topology = Dumbbell({.pairs = 3, .rate = Gbps(100), .bottleneck = Gbps(40)});
  EXPECT_EQ(topology.hosts, 6u);
  EXPECT_EQ(topology.links.size(), 14u);        // 6 host cables and the shared one
  EXPECT_EQ(LinksBetween(topology, 2, 6), 1u);  // the last on the left
  EXPECT_EQ(LinksBetween(topology, 3, 7), 1u);  // the first on the right
  EXPECT_EQ(topology.links[12].rate, Gbps(40));
  EXPECT_EQ(topology.links[0].rate, Gbps(100));
  ExpectPaired(topology);
}

TEST(TopologyTest, LeafSpineLinksEveryLeafToEverySpine) {
  const Topology topology = LeafSpine({});  // 8 leaves of 16 hosts, 16 spines
  EXPECT_EQ(topology.hosts, 128u);
  EXPECT_EQ(CountTier(topology, 1), 8u);
  EXPECT_EQ(CountTier(topology, 2), 16u);
  EXPECT_EQ(topology.links.size(), 2 * (128u + 8 * 16));
  EXPECT_EQ(topology.name, "leaf_spine 128 hosts, 8 leaves, 16 spines");
  for (NodeId leaf = 128; leaf < 136; ++leaf) {
    for (NodeId spine = 136; spine < 152; ++spine) {
      EXPECT_EQ(LinksBetween(topology, leaf, spine), 1u);
    }
  }
  EXPECT_EQ(LinksBetween(topology, 127, 135), 1u);  // the last host, on the last leaf
  ExpectPaired(topology);
}

TEST(TopologyTest, LeafSpineBundlesAreParallelLinksOfTheUplinkRate) {
  const Topology topology = LeafSpine({.leaves = 2,
                                       .hosts_per_leaf = 2,
                                       .spines = 2,
                                       .bundle = 3,
                                       .rate = Gbps(100),
                                       .uplink_rate = Gbps(25)});
  EXPECT_EQ(topology.links.size(), 2 * (4u + 2 * 2 * 3));
  EXPECT_EQ(LinksBetween(topology, 4, 6), 3u);
  EXPECT_EQ(LinksBetween(topology, 6, 4), 3u);
  EXPECT_EQ(topology.links.front().rate, Gbps(100));
  EXPECT_EQ(topology.links.back().rate, Gbps(25));
}

TEST(TopologyTest, FatTreeOfKPortSwitchesUsesEveryPort) {
  // k = 8: 128 hosts, 32 leaves, 32 aggregation switches, 16 cores; 128 cables at each level.
  const Topology topology = FatTree({});
  EXPECT_EQ(topology.hosts, 128u);
  EXPECT_EQ(CountTier(topology, 1), 32u);
  EXPECT_EQ(CountTier(topology, 2), 32u);
  EXPECT_EQ(CountTier(topology, 3), 16u);
  EXPECT_EQ(topology.links.size(), 2 * 3 * 128u);
  EXPECT_EQ(topology.name, "fat_tree 128 hosts, 8 pods, 32 leaves, 32 aggs, 16 cores");
  std::vector<int> ports(topology.nodes(), 0);
  for (const LinkShape& l : topology.links) ++ports[l.from];
  for (NodeId n = topology.hosts; n < topology.nodes(); ++n) EXPECT_EQ(ports[n], 8);
  ExpectPaired(topology);
}

TEST(TopologyTest, FatTreeAggregationSwitchesOfOnePlaceShareTheirCores) {
  const Topology topology = FatTree({});
  // Aggregation switch j of every pod reaches cores 4 j ... 4 j + 3.
  const NodeId aggs = 128 + 32, cores = aggs + 32;
  for (NodeId pod = 0; pod < 8; ++pod) {
    for (NodeId core = 0; core < 16; ++core) {
      EXPECT_EQ(LinksBetween(topology, aggs + 4 * pod + 2, cores + core), core / 4 == 2 ? 1u : 0u);
    }
  }
}

TEST(TopologyTest, FatTreeRatesFallBackTierByTier) {
  const Topology all = FatTree({.rate = Gbps(50)});
  EXPECT_EQ(all.links.back().rate, Gbps(50));
  const Topology up = FatTree({.rate = Gbps(50), .uplink_rate = Gbps(20)});
  EXPECT_EQ(up.links.back().rate, Gbps(20));
  const Topology core = FatTree({.rate = Gbps(50), .core_rate = Gbps(10)});
  EXPECT_EQ(core.links[2 * 128].rate, Gbps(50));  // the first leaf uplink
  EXPECT_EQ(core.links.back().rate, Gbps(10));
}

TEST(TopologyTest, SwitchLatencyIsPaidByWhatArrivesAtTheSwitch) {
  const Topology topology =
      BuildTiers({.leaves_per_pod = 1,
                  .hosts_per_leaf = 1,
                  .uppers_per_pod = 1,
                  .leaf = {.rate = Gbps(1), .delay = Nanos(100), .switch_latency = Nanos(7)},
                  .upper = {.rate = Gbps(1), .delay = Nanos(200), .switch_latency = Nanos(9)}});
  EXPECT_EQ(topology.links[0].delay, Nanos(100 + 7));  // host to leaf
  EXPECT_EQ(topology.links[1].delay, Nanos(100));      // leaf to host: no switch at the end
  EXPECT_EQ(topology.links[2].delay, Nanos(200 + 9));  // leaf to spine
  EXPECT_EQ(topology.links[3].delay, Nanos(200 + 7));  // spine to leaf
}

}  // namespace
}  // namespace weir
