#include "testbed/fabric/paths.h"

#include <algorithm>
#include <tuple>

#include "datapath/text/quantity_text.h"

namespace weir {

Duration BaseRtt(const Topology& topology, const Routes& routes, uint32_t from, uint32_t to,
                 Bytes size, Bytes ack) {
  Duration total{};
  for (const auto& [source, target, bytes] :
       {std::tuple(from, to, size), std::tuple(to, from, ack)}) {
    NodeId node = source;
    while (node != target) {
      LinkId link = 0;
      if (topology.IsHost(node)) {
        while (topology.links[link].from != node) ++link;
      } else {
        const std::span<const LinkId> next = routes.Next(node, target);
        if (next.empty()) return Duration::Max();
        link = next[0];
      }
      total += topology.links[link].delay + bytes / topology.links[link].rate;
      node = topology.links[link].to;
    }
  }
  return total;
}

std::vector<Rate> HostRates(const Topology& topology) {
  std::vector<Rate> rates(topology.hosts);
  for (const LinkShape& link : topology.links) {
    if (topology.IsHost(link.from)) rates[link.from] = link.rate;
  }
  return rates;
}

void SetHostRates(Topology& topology, std::span<const Rate> rates) {
  for (size_t i = 0; i < rates.size(); ++i) {
    topology.name += (i == 0 ? ", NICs of " : ", ") + Format(rates[i]);
  }
  for (LinkShape& link : topology.links) {
    const NodeId host = std::min(link.from, link.to);  // hosts are the first nodes
    if (topology.IsHost(host)) link.rate = rates[host % rates.size()];
  }
}

}  // namespace weir
