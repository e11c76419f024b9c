// The shape of a fabric: hosts, switches and the links between them. A description without state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "datapath/api/units.h"

namespace weir {

// Hosts come first: node h < hosts is host h; switches follow.
using NodeId = uint32_t;
using LinkId = uint32_t;

// One direction of a cable. The other direction is `reverse`.
struct LinkShape {
  NodeId from = 0;
  NodeId to = 0;
  Rate rate{};
  Duration delay{};  // propagation, plus the receiving switch's forwarding latency
  LinkId reverse = 0;
};

struct Topology {
  std::string name;  // "leaf_spine 128 hosts, 8 leaves, 16 spines"
  uint32_t hosts = 0;
  std::vector<uint8_t> tier;  // by node: 0 for a host, 1 for a leaf, 2 and 3 above
  std::vector<LinkShape> links;

  uint32_t nodes() const { return static_cast<uint32_t>(tier.size()); }
  bool IsHost(NodeId n) const { return n < hosts; }
};

// Adds both directions between `a` and `b`; returns the id of a -> b.
LinkId AddCable(Topology& topology, NodeId a, NodeId b, Rate rate, Duration delay);

// `senders` hosts, one receiver (the last host), one switch.
struct SingleBottleneckShape {
  uint32_t senders = 8;
  Rate rate = Gbps(100);
  Duration delay = Micros(1);
};
Topology SingleBottleneck(const SingleBottleneckShape& shape);

// `pairs` hosts on each side of one link. Host i faces host pairs + i.
struct DumbbellShape {
  uint32_t pairs = 8;
  Rate rate = Gbps(100);        // of the hosts
  Rate bottleneck = Gbps(100);  // of the shared link
  Duration delay = Micros(1);
};
Topology Dumbbell(const DumbbellShape& shape);

// Two tiers: every leaf has one link to every spine (`bundle` of them). Oversubscription is
// hosts_per_leaf * rate : spines * bundle * uplink_rate.
struct LeafSpineShape {
  uint32_t leaves = 8;
  uint32_t hosts_per_leaf = 16;
  uint32_t spines = 16;
  uint32_t bundle = 1;
  Rate rate = Gbps(400);
  Rate uplink_rate{};  // 0: as `rate`
  Duration delay = Micros(1);
};
Topology LeafSpine(const LeafSpineShape& shape);

// Three tiers of pods. A non-blocking fat tree of k-port switches is {hosts_per_leaf = k/2,
// leaves_per_pod = k/2, aggs_per_pod = k/2, pods = k, cores = k*k/4}. Aggregation switch j of every
// pod connects to cores j*cores/aggs_per_pod ... (j+1)*cores/aggs_per_pod - 1.
struct FatTreeShape {
  uint32_t pods = 8;
  uint32_t leaves_per_pod = 4;
  uint32_t aggs_per_pod = 4;
  uint32_t hosts_per_leaf = 4;
  uint32_t cores = 16;  // a multiple of aggs_per_pod
  Rate rate = Gbps(100);
  Rate uplink_rate{};  // leaf to aggregation; 0: as `rate`
  Rate core_rate{};    // aggregation to core; 0: as `uplink_rate`
  Duration delay = Micros(1);
};
Topology FatTree(const FatTreeShape& shape);

// Nodes with a NIC a rail; each NIC is a host. NIC k of node n is host n * rails + k, on leaf k of
// the node's group, so that NICs of equal number meet on one leaf. Two tiers.
struct RailShape {
  uint32_t groups = 2;
  uint32_t nodes_per_group = 8;  // hosts of a leaf
  uint32_t rails = 8;
  uint32_t spines = 8;  // that every leaf reaches; with `planes`, of each rail
  bool planes = false;  // a rail is a plane: it has spines of its own, and no way to the others
  uint32_t bundle = 1;
  Rate rate = Gbps(400);
  Rate uplink_rate{};  // 0: as `rate`
  Duration delay = Micros(1);
};
Topology RailOptimised(const RailShape& shape);

// Reads a topology file of htsim's kind (.topo): `Nodes`, `Tiers`, `Podsize`, then for each
// `Tier i` Downlink_speed_Gbps, Radix_Down, Radix_Up, Downlink_Latency_ns, Switch_Latency_ns,
// Oversubscribed, Bundle. Errors name `file`, the line and the remedy.
absl::StatusOr<Topology> ParseTopo(const std::string& text, const std::string& file);

// Shortest-path next hops, all of equal length, in link order. Hosts on the same leaf share a row.
// A host hangs off one switch, by any number of links: of several, the first with a usable link is
// used. Hosts pass nothing on, so a cable between two hosts leads nowhere.
class Routes {
 public:
  // `usable[link]` false takes a link out; empty: all are in.
  explicit Routes(const Topology& topology, const std::vector<bool>& usable = {});

  // The links out of switch `at` that lead to host `to`; empty if it can't be reached.
  std::span<const LinkId> Next(NodeId at, NodeId to) const {
    const Place& place = places_[to];
    if (at == place.leaf) return Links(place.down);
    return Links(rows_[static_cast<size_t>(at - hosts_) * columns_ + place.column]);
  }
  // Links on the way from one host to another; 0 if it can't be reached.
  uint32_t Hops(NodeId from, NodeId to) const;

 private:
  static constexpr NodeId kNowhere = 0xFFFF'FFFF;
  struct Row {
    uint32_t first = 0;  // in links_
    uint16_t count = 0;
    uint16_t hops = 0;  // to the leaf
  };
  struct Place {
    NodeId entry = kNowhere;  // the switch that the host sends to
    NodeId leaf = kNowhere;   // the switch that sends to it
    uint32_t column = 0;      // of `leaf`; column 0 leads nowhere
    Row down{};               // from `leaf` to the host
  };

  std::vector<NodeId> PlaceHosts(const Topology& topology, const std::vector<bool>& usable);
  Row Keep(const std::vector<LinkId>& links);
  std::span<const LinkId> Links(const Row& row) const {
    return {links_.data() + row.first, row.count};
  }

  uint32_t hosts_ = 0;
  uint32_t columns_ = 0;
  std::vector<Place> places_;  // by host
  std::vector<Row> rows_;      // by switch, then column
  std::vector<LinkId> links_;
};

}  // namespace weir
