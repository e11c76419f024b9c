#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testbed/fabric/topology.h"

namespace weir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<NodeId> Neighbours(const Topology& topology, std::span<const LinkId> links) {
  std::vector<NodeId> to;
  for (const LinkId l : links) to.push_back(topology.links[l].to);
  return to;
}

// Follows the `pick`-th next hop, modulo their number, from a host's switch to another host.
// Returns the links taken with the host's own, or 0 if it gets stuck.
uint32_t Walk(const Topology& topology, const Routes& routes, NodeId from, NodeId to, size_t pick) {
  NodeId at = topology.links[2 * from].to;  // hosts are cabled first, in order
  for (uint32_t taken = 1; taken < 10; ++taken) {
    if (at == to) return taken;
    const std::span<const LinkId> next = routes.Next(at, to);
    if (next.empty()) return 0;
    EXPECT_EQ(topology.links[next[pick % next.size()]].from, at);
    at = topology.links[next[pick % next.size()]].to;
  }
  return 0;
}

TEST(RoutesTest, ALeafHasAllSpinesForAnotherLeafAndOneLinkForItsOwnHosts) {
  const Topology topology = LeafSpine({.leaves = 2, .hosts_per_leaf = 2, .spines = 3});
  const Routes routes(topology);
  // Nodes: hosts 0-3, leaves 4-5, spines 6-8.
  EXPECT_THAT(Neighbours(topology, routes.Next(4, 2)), ElementsAre(6, 7, 8));
  EXPECT_THAT(Neighbours(topology, routes.Next(4, 3)), ElementsAre(6, 7, 8));
  EXPECT_THAT(Neighbours(topology, routes.Next(4, 0)), ElementsAre(0));
  EXPECT_THAT(Neighbours(topology, routes.Next(4, 1)), ElementsAre(1));
  EXPECT_THAT(Neighbours(topology, routes.Next(7, 3)), ElementsAre(5));
}

TEST(RoutesTest, HopsCountTheHostsOwnLinks) {
  const Topology topology = FatTree({});  // 4 hosts a leaf, 16 a pod
  const Routes routes(topology);
  EXPECT_EQ(routes.Hops(0, 0), 0u);
  EXPECT_EQ(routes.Hops(0, 1), 2u);   // in a leaf
  EXPECT_EQ(routes.Hops(0, 4), 4u);   // over an aggregation switch
  EXPECT_EQ(routes.Hops(0, 16), 6u);  // over a core
}

TEST(RoutesTest, EveryNextHopOfAFatTreeArrivesInTheShortestWay) {
  const Topology topology = FatTree({});
  const Routes routes(topology);
  for (NodeId from = 0; from < topology.hosts; from += 3) {
    for (NodeId to = 0; to < topology.hosts; ++to) {
      if (from == to) continue;
      for (size_t pick = 0; pick < 4; ++pick) {
        ASSERT_EQ(Walk(topology, routes, from, to, pick), routes.Hops(from, to));
      }
    }
  }
}

TEST(RoutesTest, AFatTreeSplitsByFourOnEachWayUp) {
  const Topology topology = FatTree({});
  const Routes routes(topology);
  const NodeId leaf = 128, agg = 128 + 32, core = 128 + 64;
  EXPECT_THAT(routes.Next(leaf, 127), SizeIs(4));
  EXPECT_THAT(routes.Next(agg, 127), SizeIs(4));
  EXPECT_THAT(routes.Next(agg, 5), SizeIs(1));  // its own pod: down to the leaf
  EXPECT_THAT(routes.Next(core, 127), SizeIs(1));
}

TEST(RoutesTest, LinksOfABundleAreSeveralNextHops) {
  const Topology topology = LeafSpine({.leaves = 2, .hosts_per_leaf = 1, .spines = 2, .bundle = 2});
  const Routes routes(topology);
  // Nodes: hosts 0-1, leaves 2-3, spines 4-5.
  EXPECT_THAT(Neighbours(topology, routes.Next(2, 1)), ElementsAre(4, 4, 5, 5));
  EXPECT_THAT(Neighbours(topology, routes.Next(4, 1)), ElementsAre(3, 3));
}

TEST(RoutesTest, ASwitchWithoutSpinesStillReachesItsHosts) {
  const Topology topology = SingleBottleneck({.senders = 2});
  const Routes routes(topology);
  EXPECT_THAT(Neighbours(topology, routes.Next(3, 2)), ElementsAre(2));
  EXPECT_EQ(routes.Hops(0, 2), 2u);
}

TEST(RoutesTest, HostsMayHangOffAnyTier) {
  Topology topology = LeafSpine({.leaves = 1, .hosts_per_leaf = 2, .spines = 1});
  // Nodes: hosts 0-1, leaf 2, spine 3. Host 1 moves to the spine.
  topology.links[2].to = topology.links[3].from = 3;
  const Routes routes(topology);
  EXPECT_THAT(Neighbours(topology, routes.Next(2, 1)), ElementsAre(3));
  EXPECT_THAT(Neighbours(topology, routes.Next(3, 1)), ElementsAre(1));
  EXPECT_THAT(Neighbours(topology, routes.Next(3, 0)), ElementsAre(2));
  EXPECT_EQ(routes.Hops(0, 1), 3u);
}

TEST(RoutesTest, ADeadLinkLeavesTheOthers) {
  const Topology topology = LeafSpine({.leaves = 2, .hosts_per_leaf = 2, .spines = 3});
  std::vector<bool> usable(topology.links.size(), true);
  for (LinkId l = 0; l < topology.links.size(); ++l) {
    if (topology.links[l].from == 6 && topology.links[l].to == 5) usable[l] = false;
  }
  const Routes routes(topology, usable);
  // Spine 6 has lost leaf 5: leaf 4 avoids it, and it would itself go round over leaf 4.
  EXPECT_THAT(Neighbours(topology, routes.Next(4, 2)), ElementsAre(7, 8));
  EXPECT_THAT(Neighbours(topology, routes.Next(6, 2)), ElementsAre(4));
  // The other direction of the same cable is not affected.
  EXPECT_THAT(Neighbours(topology, routes.Next(5, 0)), ElementsAre(6, 7, 8));
}

TEST(RoutesTest, AHostWithoutItsLinkIsReachedFromNowhere) {
  const Topology topology = LeafSpine({.leaves = 2, .hosts_per_leaf = 2, .spines = 3});
  std::vector<bool> usable(topology.links.size(), true);
  usable[1] = false;  // leaf 4 to host 0
  const Routes routes(topology, usable);
  EXPECT_THAT(routes.Next(4, 0), IsEmpty());
  EXPECT_THAT(routes.Next(5, 0), IsEmpty());
  EXPECT_THAT(routes.Next(6, 0), IsEmpty());
  EXPECT_EQ(routes.Hops(2, 0), 0u);
  EXPECT_EQ(routes.Hops(0, 2), 4u);  // it can still send
  EXPECT_EQ(routes.Hops(2, 1), 4u);
}

TEST(RoutesTest, APartitionedFabricHasNoWayAcross) {
  const Topology topology = Dumbbell({.pairs = 2});
  std::vector<bool> usable(topology.links.size(), true);
  usable[8] = usable[9] = false;  // both directions of the shared link
  const Routes routes(topology, usable);
  EXPECT_THAT(routes.Next(4, 2), IsEmpty());
  EXPECT_EQ(routes.Hops(0, 2), 0u);
  EXPECT_EQ(routes.Hops(0, 1), 2u);
}

TEST(RoutesTest, NoLinksAtAllIsNoWayAnywhere) {
  const Topology topology = SingleBottleneck({.senders = 2});
  const Routes routes(topology, std::vector<bool>(topology.links.size(), false));
  EXPECT_THAT(routes.Next(3, 2), IsEmpty());
  EXPECT_EQ(routes.Hops(0, 2), 0u);
}

TEST(RoutesTest, AHostOnTwoLeavesUsesTheFirstThatIsUp) {
  Topology topology = LeafSpine({.leaves = 2, .hosts_per_leaf = 1, .spines = 1});
  // Nodes: hosts 0-1, leaves 2-3, spine 4. Host 0 joins leaf 3 as well.
  const LinkId second = AddCable(topology, 0, 3, Gbps(400), Micros(1));
  EXPECT_THAT(Neighbours(topology, Routes(topology).Next(3, 0)), ElementsAre(4));
  std::vector<bool> usable(topology.links.size(), true);
  usable[0] = usable[1] = false;  // its link to leaf 2
  const Routes routes(topology, usable);
  EXPECT_THAT(routes.Next(3, 0), ElementsAre(topology.links[second].reverse));
  EXPECT_EQ(routes.Hops(0, 1), 2u);
}

TEST(RoutesTest, ParallelLinksToAHostAreSeveralNextHops) {
  Topology topology = SingleBottleneck({.senders = 1});
  AddCable(topology, 1, 2, Gbps(100), Micros(1));
  EXPECT_THAT(Routes(topology).Next(2, 1), ElementsAre(3, 5));
}

TEST(RoutesTest, EightThousandHostsAreRouted) {
  const Topology topology = LeafSpine({.leaves = 128, .hosts_per_leaf = 64, .spines = 64});
  const Routes routes(topology);
  ASSERT_EQ(topology.hosts, 8192u);
  EXPECT_THAT(routes.Next(8192, 8191), SizeIs(64));
  EXPECT_THAT(routes.Next(8192 + 127, 8191), SizeIs(1));
  for (NodeId to = 1; to < topology.hosts; to += 61) {
    ASSERT_EQ(Walk(topology, routes, 0, to, to), to < 64 ? 2u : 4u);
  }
}

}  // namespace
}  // namespace weir
