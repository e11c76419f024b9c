#include "testbed/fabric/topology.h"

#include "absl/strings/str_format.h"
#include "testbed/fabric/tiers.h"

namespace weir {
namespace {

// Leaves, aggregation switches or spines, and cores.
constexpr uint8_t kLeafTier = 1;
constexpr uint8_t kUpperTier = 2;
constexpr uint8_t kCoreTier = 3;

Rate OrElse(Rate rate, Rate fallback) { return rate == Rate(0) ? fallback : rate; }

Topology WithHosts(uint32_t hosts) {
  Topology topology;
  topology.hosts = hosts;
  topology.tier.assign(hosts, 0);
  return topology;
}

// Appends `count` switches; returns the first.
NodeId AddSwitches(Topology& topology, uint32_t count, uint8_t tier) {
  const NodeId first = topology.nodes();
  topology.tier.insert(topology.tier.end(), count, tier);
  return first;
}

// The links between `below` and the switch `above`. A frame that goes up meets the latency of
// `above`, one that goes down that of the switch below, which is zero for a host.
void AddBundle(Topology& topology, NodeId below, NodeId above, const Tier& tier,
               Duration latency_below) {
  for (uint32_t i = 0; i < tier.bundle; ++i) {
    const LinkId up = AddCable(topology, below, above, tier.rate, tier.delay);
    topology.links[up].delay += tier.switch_latency;
    topology.links[topology.links[up].reverse].delay += latency_below;
  }
}

std::string NameOf(const TieredShape& shape, uint32_t hosts) {
  const uint32_t leaves = shape.pods * shape.leaves_per_pod;
  const uint32_t uppers = shape.pods * shape.uppers_per_pod;
  if (shape.cores_per_upper == 0) {
    return absl::StrFormat("leaf_spine %d hosts, %d leaves, %d spines", hosts, leaves, uppers);
  }
  return absl::StrFormat("fat_tree %d hosts, %d pods, %d leaves, %d aggs, %d cores", hosts,
                         shape.pods, leaves, uppers, shape.uppers_per_pod * shape.cores_per_upper);
}

}  // namespace

LinkId AddCable(Topology& topology, NodeId a, NodeId b, Rate rate, Duration delay) {
  const LinkId there = static_cast<LinkId>(topology.links.size());
  const LinkId back = there + 1;
  topology.links.push_back({.from = a, .to = b, .rate = rate, .delay = delay, .reverse = back});
  topology.links.push_back({.from = b, .to = a, .rate = rate, .delay = delay, .reverse = there});
  return there;
}

Topology SingleBottleneck(const SingleBottleneckShape& shape) {
  Topology topology = WithHosts(shape.senders + 1);
  topology.name = absl::StrFormat("single_bottleneck %d hosts", topology.hosts);
  const NodeId only = AddSwitches(topology, 1, kLeafTier);
  for (NodeId h = 0; h < topology.hosts; ++h) {
    AddCable(topology, h, only, shape.rate, shape.delay);
  }
  return topology;
}

Topology Dumbbell(const DumbbellShape& shape) {
  Topology topology = WithHosts(2 * shape.pairs);
  topology.name = absl::StrFormat("dumbbell %d hosts", topology.hosts);
  const NodeId left = AddSwitches(topology, 2, kLeafTier);
  const NodeId right = left + 1;
  for (NodeId h = 0; h < topology.hosts; ++h) {
    AddCable(topology, h, h < shape.pairs ? left : right, shape.rate, shape.delay);
  }
  AddCable(topology, left, right, shape.bottleneck, shape.delay);
  return topology;
}

Topology LeafSpine(const LeafSpineShape& shape) {
  return BuildTiers({.pods = 1,
                     .leaves_per_pod = shape.leaves,
                     .hosts_per_leaf = shape.hosts_per_leaf,
                     .uppers_per_pod = shape.spines,
                     .leaf = {.rate = shape.rate, .delay = shape.delay},
                     .upper = {.rate = OrElse(shape.uplink_rate, shape.rate),
                               .delay = shape.delay,
                               .bundle = shape.bundle}});
}

Topology FatTree(const FatTreeShape& shape) {
  const Rate uplink_rate = OrElse(shape.uplink_rate, shape.rate);
  return BuildTiers({.pods = shape.pods,
                     .leaves_per_pod = shape.leaves_per_pod,
                     .hosts_per_leaf = shape.hosts_per_leaf,
                     .uppers_per_pod = shape.aggs_per_pod,
                     .cores_per_upper = shape.cores / shape.aggs_per_pod,
                     .leaf = {.rate = shape.rate, .delay = shape.delay},
                     .upper = {.rate = uplink_rate, .delay = shape.delay},
                     .core = {.rate = OrElse(shape.core_rate, uplink_rate), .delay = shape.delay}});
}

Topology RailOptimised(const RailShape& shape) {
  const uint32_t nodes = shape.groups * shape.nodes_per_group;
  Topology topology = WithHosts(nodes * shape.rails);
  const uint32_t leaf_count = shape.groups * shape.rails;
  const uint32_t spine_count = shape.spines * (shape.planes ? shape.rails : 1);
  topology.name = absl::StrFormat("%s %d hosts, %d nodes of %d, %d leaves, %d spines",
                                  shape.planes ? "multi_plane" : "rail_optimised", topology.hosts,
                                  nodes, shape.rails, leaf_count, spine_count);
  const NodeId leaves = AddSwitches(topology, leaf_count, kLeafTier);
  const NodeId spines = AddSwitches(topology, spine_count, kUpperTier);
  for (NodeId h = 0; h < topology.hosts; ++h) {
    const uint32_t group = h / shape.rails / shape.nodes_per_group;
    AddCable(topology, h, leaves + group * shape.rails + h % shape.rails, shape.rate, shape.delay);
  }
  const Tier up{
      .rate = OrElse(shape.uplink_rate, shape.rate), .delay = shape.delay, .bundle = shape.bundle};
  for (uint32_t l = 0; l < leaf_count; ++l) {
    const NodeId first = spines + (shape.planes ? l % shape.rails * shape.spines : 0);
    for (uint32_t s = 0; s < shape.spines; ++s) {
      AddBundle(topology, leaves + l, first + s, up, Duration(0));
    }
  }
  return topology;
}

Topology BuildTiers(const TieredShape& shape) {
  const uint32_t leaf_count = shape.pods * shape.leaves_per_pod;
  const uint32_t upper_count = shape.pods * shape.uppers_per_pod;
  Topology topology = WithHosts(leaf_count * shape.hosts_per_leaf);
  topology.name = NameOf(shape, topology.hosts);
  const NodeId leaves = AddSwitches(topology, leaf_count, kLeafTier);
  const NodeId uppers = AddSwitches(topology, upper_count, kUpperTier);
  const NodeId cores =
      AddSwitches(topology, shape.uppers_per_pod * shape.cores_per_upper, kCoreTier);

  for (NodeId h = 0; h < topology.hosts; ++h) {
    AddBundle(topology, h, leaves + h / shape.hosts_per_leaf, shape.leaf, Duration(0));
  }
  for (uint32_t l = 0; l < leaf_count; ++l) {
    const NodeId first = uppers + l / shape.leaves_per_pod * shape.uppers_per_pod;
    for (uint32_t j = 0; j < shape.uppers_per_pod; ++j) {
      AddBundle(topology, leaves + l, first + j, shape.upper, shape.leaf.switch_latency);
    }
  }
  for (uint32_t u = 0; u < upper_count; ++u) {
    const NodeId first = cores + u % shape.uppers_per_pod * shape.cores_per_upper;
    for (uint32_t c = 0; c < shape.cores_per_upper; ++c) {
      AddBundle(topology, uppers + u, first + c, shape.core, shape.upper.switch_latency);
    }
  }
  return topology;
}

}  // namespace weir
