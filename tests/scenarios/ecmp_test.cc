// One path for a connection, and what switches make of it.
#include "gtest/gtest.h"
#include "tests/support/bottleneck.h"

namespace weir {
namespace {

constexpr Rate kRate = Gbps(100);

// Links that leave switches of tier `from` for tier `to` and have carried full packets: more than
// acknowledgements alone, which may come back by other links.
std::vector<LinkId> LinksInUse(Network& net, uint8_t from, uint8_t to) {
  std::vector<LinkId> used;
  const Topology& topology = net.topology();
  for (LinkId id = 0; id < topology.links.size(); ++id) {
    const LinkShape& link = topology.links[id];
    if (topology.tier[link.from] != from || topology.tier[link.to] != to) continue;
    const PortStats& port = net.world().fabric().port(id);
    if (port.bytes_out > 1000 * port.packets_out) used.push_back(id);
  }
  return used;
}

// T-ECMP-3.
TEST(EcmpScenario, AConnectionKeepsItsPathUntilTheRouteChanges) {
  NetworkSpec spec{
      .topology = LeafSpine({.leaves = 2, .hosts_per_leaf = 1, .spines = 4, .rate = kRate}),
      .binding = Bind("none"),
      .switches = {.reroute_after = Micros(100)}};
  Network net(spec);
  net.Connect({{0, 1}});
  net.Write(0, Bytes(4'000'000));
  ASSERT_TRUE(net.RunToEnd(Millis(2)));
  const std::vector<LinkId> first = LinksInUse(net, 1, 2);
  ASSERT_EQ(first.size(), 1u);
  net.Write(0, Bytes(1'000'000));  // the same path, message for message
  ASSERT_TRUE(net.RunToEnd(Millis(2)));
  EXPECT_EQ(LinksInUse(net, 1, 2), first);

  // The link goes down in the middle of a transfer; the switch finds another for the same hash.
  net.Write(0, Bytes(4'000'000));
  const LinkId cable = std::min(first[0], net.topology().links[first[0]].reverse);
  net.Add(
      {{.kind = FaultKind::kLinkDown, .target = cable, .at = net.now() - Time(0) + Micros(100)}},
      Seconds(1));
  ASSERT_TRUE(net.RunToEnd(Millis(20)));
  EXPECT_EQ(LinksInUse(net, 1, 2).size(), 2u);
}

// T-ECMP-4: three tiers, four ways up from the leaf, and four more from each of the switches there:
// sixteen paths. With one hash everywhere all that reached a switch by its i-th link takes the i-th
// again: four paths.
// LB-19.8
TEST(EcmpScenario, EqualHashesInTwoTiersLoseMostPaths) {
  for (const bool same_seed : {false, true}) {
    NetworkSpec spec{.topology = FatTree({.pods = 2,
                                          .leaves_per_pod = 1,
                                          .aggs_per_pod = 4,
                                          .hosts_per_leaf = 1,
                                          .cores = 16,
                                          .rate = kRate}),
                     .binding = Bind("none", {}, "round_robin"),
                     .switches = {.same_seed = same_seed}};
    spec.binding.paths = 1024;
    Network net(spec);
    net.Connect({{0, 1}});
    net.Write(0, Bytes(4'096 * 2'048));
    ASSERT_TRUE(net.RunToEnd(Millis(5)));
    EXPECT_EQ(LinksInUse(net, 1, 2).size(), 4u);
    EXPECT_EQ(LinksInUse(net, 2, 3).size(), same_seed ? 4u : 16u);
  }
}

// Of eight connections on eight links the fullest link carries 2.59 on average (a thousand draws
// give +-0.02); a hundred drawn by the fabric's own hash must agree within three sigma, 0.25.
TEST(EcmpScenario, CollisionsAreThoseOfARandomPlacement) {
  double sum = 0;
  constexpr int kRuns = 100;
  for (uint64_t seed = 1; seed <= kRuns; ++seed) {
    NetworkSpec spec{
        .topology = LeafSpine({.leaves = 2, .hosts_per_leaf = 8, .spines = 8, .rate = kRate}),
        .binding = Bind("none"),
        .seed = seed};
    Network net(spec);
    std::vector<TrafficConnection> pairs;
    for (uint32_t h = 0; h < 8; ++h) pairs.push_back({h, 8 + h});
    net.Connect(pairs);
    net.WriteAll(Bytes(8'192));
    ASSERT_TRUE(net.RunToEnd(Millis(1)));
    std::map<LinkId, uint64_t> load;
    for (const LinkId link : LinksInUse(net, 1, 2)) {
      load[link] = net.world().fabric().port(link).bytes_out / 8'192;
    }
    uint64_t most = 0;
    for (const auto& [_, flows] : load) most = std::max(most, flows);
    sum += static_cast<double>(most);
  }
  EXPECT_NEAR(Measured("mean_of_fullest", sum / kRuns), 2.59, 0.25);
}

}  // namespace
}  // namespace weir
