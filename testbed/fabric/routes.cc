#include <algorithm>
#include <limits>
#include <utility>

#include "testbed/fabric/topology.h"

namespace weir {
namespace {

constexpr uint16_t kFar = std::numeric_limits<uint16_t>::max();

// The usable links between switches, by the switch they leave, in link order.
class SwitchGraph {
 public:
  SwitchGraph(const Topology& topology, const std::vector<bool>& usable) : topology_(topology) {
    out_.resize(topology.nodes() - topology.hosts);
    in_.resize(out_.size());
    for (LinkId l = 0; l < topology.links.size(); ++l) {
      const LinkShape& link = topology.links[l];
      if (topology.IsHost(link.from) || topology.IsHost(link.to)) continue;
      if (!usable.empty() && !usable[l]) continue;
      out_[link.from - topology.hosts].push_back(l);
      in_[link.to - topology.hosts].push_back(l);
    }
  }

  uint32_t size() const { return static_cast<uint32_t>(out_.size()); }

  // Links from each switch to `target`; kFar where there is no way.
  std::vector<uint16_t> DistancesTo(NodeId target) const {
    std::vector<uint16_t> distance(out_.size(), kFar);
    std::vector<uint32_t> queue = {target - topology_.hosts};
    distance[queue[0]] = 0;
    for (size_t next = 0; next < queue.size(); ++next) {
      const uint32_t at = queue[next];
      for (const LinkId l : in_[at]) {
        const uint32_t from = topology_.links[l].from - topology_.hosts;
        if (distance[from] != kFar) continue;
        distance[from] = static_cast<uint16_t>(distance[at] + 1);
        queue.push_back(from);
      }
    }
    return distance;
  }

  // The links from switch `at` that lead one step closer. `out` is overwritten.
  void Closer(uint32_t at, const std::vector<uint16_t>& distance, std::vector<LinkId>* out) const {
    out->clear();
    if (distance[at] == kFar) return;
    for (const LinkId l : out_[at]) {
      const uint32_t to = topology_.links[l].to - topology_.hosts;
      if (distance[to] != kFar && distance[to] + 1 == distance[at]) out->push_back(l);
    }
  }

 private:
  const Topology& topology_;
  std::vector<std::vector<LinkId>> out_;
  std::vector<std::vector<LinkId>> in_;
};

}  // namespace

Routes::Routes(const Topology& topology, const std::vector<bool>& usable)
    : hosts_(topology.hosts), places_(topology.hosts) {
  const std::vector<NodeId> leaves = PlaceHosts(topology, usable);
  columns_ = static_cast<uint32_t>(leaves.size()) + 1;
  const SwitchGraph graph(topology, usable);
  rows_.resize(static_cast<size_t>(graph.size()) * columns_);

  // A leaf's uplinks lead to all the other leaves alike. Equal lists in a row are kept once, so
  // that the table of a large fabric stays in the cache.
  std::vector<Row> last(graph.size());
  std::vector<LinkId> links;
  for (uint32_t column = 1; column < columns_; ++column) {
    const std::vector<uint16_t> distance = graph.DistancesTo(leaves[column - 1]);
    for (uint32_t at = 0; at < graph.size(); ++at) {
      graph.Closer(at, distance, &links);
      Row& row = rows_[static_cast<size_t>(at) * columns_ + column];
      if (!links.empty()) {
        if (!std::ranges::equal(links, Links(last[at]))) last[at] = Keep(links);
        row = last[at];
      }
      row.hops = distance[at];
    }
  }
}

// Finds where each host hangs; returns the leaves in the order of their columns.
std::vector<NodeId> Routes::PlaceHosts(const Topology& topology, const std::vector<bool>& usable) {
  std::vector<std::vector<LinkId>> down(hosts_);
  for (LinkId l = 0; l < topology.links.size(); ++l) {
    const LinkShape& link = topology.links[l];
    if (!usable.empty() && !usable[l]) continue;
    if (topology.IsHost(link.from) == topology.IsHost(link.to)) continue;
    if (topology.IsHost(link.from)) {
      Place& place = places_[link.from];
      if (place.entry == kNowhere) place.entry = link.to;
    } else {
      Place& place = places_[link.to];
      if (place.leaf == kNowhere) place.leaf = link.from;
      if (place.leaf == link.from) down[link.to].push_back(l);
    }
  }
  std::vector<NodeId> leaves;
  std::vector<uint32_t> column_of(topology.nodes(), 0);
  for (NodeId h = 0; h < hosts_; ++h) {
    Place& place = places_[h];
    if (place.leaf == kNowhere) continue;
    uint32_t& column = column_of[place.leaf];
    if (column == 0) {
      leaves.push_back(place.leaf);
      column = static_cast<uint32_t>(leaves.size());
    }
    place.column = column;
    place.down = Keep(down[h]);
  }
  return leaves;
}

Routes::Row Routes::Keep(const std::vector<LinkId>& links) {
  const Row row = {.first = static_cast<uint32_t>(links_.size()),
                   .count = static_cast<uint16_t>(links.size())};
  links_.insert(links_.end(), links.begin(), links.end());
  return row;
}

uint32_t Routes::Hops(NodeId from, NodeId to) const {
  const Place& source = places_[from];
  const Place& target = places_[to];
  if (from == to || source.entry == kNowhere || target.leaf == kNowhere) return 0;
  if (source.entry == target.leaf) return 2;
  const Row& row = rows_[(source.entry - hosts_) * columns_ + target.column];
  return row.count == 0 ? 0 : row.hops + 2u;
}

}  // namespace weir
