#include <fnmatch.h>

#include <algorithm>
#include <map>

#include "absl/strings/str_format.h"
#include "testbed/experiment/load_parts.h"

namespace weir {
namespace {

const std::vector<std::string> kKinds = {"link_down", "link_flap", "degraded", "impairment",
                                         "host_stall"};

const char* TierName(const Topology& topology, int tier) {
  const int top = *std::max_element(topology.tier.begin(), topology.tier.end());
  switch (tier) {
    case 0:
      return "host";
    case 1:
      return top == 1 ? "switch" : "leaf";
    case 2:
      return top == 2 ? "spine" : "agg";
    default:
      return "core";
  }
}

// The links of that name, from the first node to the second: of a bundle the first, with "#k" the
// k-th. With "*" in it, of every name that fits: of a bundle all, with "#k" the k-th. Of "all", the
// one target that stands for all.
std::vector<uint32_t> ReadLinks(TableReader& r, const std::string& name, const Topology& topology) {
  if (name == "all") return {kAllLinks};
  const size_t hash = name.find('#');
  const std::string ends = name.substr(0, hash);
  const bool several = ends.find('*') != std::string::npos;
  const size_t k =
      hash == std::string::npos ? 0 : std::strtoul(name.c_str() + hash + 1, nullptr, 10);
  std::map<std::string, size_t> seen;
  std::vector<uint32_t> links;
  for (LinkId id = 0; id < topology.links.size(); ++id) {
    const std::string link = LinkName(topology, id);
    if (fnmatch(ends.c_str(), link.c_str(), 0) != 0) continue;
    const bool whole_bundle = several && hash == std::string::npos;
    if (const size_t nth = seen[link]++; whole_bundle || nth == k) links.push_back(id);
    if (!several && !links.empty()) break;
  }
  if (links.empty()) {
    r.FailKey("link",
              absl::StrFormat("there is no link \"%s\"; the first ones are %s and %s, several are "
                              "written leaf*-spine0, and every one \"all\"",
                              name, LinkName(topology, 0),
                              LinkName(topology, static_cast<LinkId>(topology.links.size()) - 1)));
  }
  return links;
}

}  // namespace

std::string NodeName(const Topology& topology, NodeId node) {
  const int tier = topology.tier[node];
  const auto before = std::count(topology.tier.begin(), topology.tier.begin() + node, tier);
  return TierName(topology, tier) + std::to_string(before);
}

std::string LinkName(const Topology& topology, LinkId link) {
  const LinkShape& shape = topology.links[link];
  return NodeName(topology, shape.from) + "-" + NodeName(topology, shape.to);
}

void ReadFault(TableReader& r, const Topology& topology, std::vector<Fault>& out) {
  Fault fault;
  int kind = -1;
  r.Choice("kind", kKinds, kind);
  if (kind < 0) {
    r.Fail(nullptr, "a fault needs a kind: link_down, link_flap, degraded, impairment, host_stall");
    return;
  }
  fault.kind = static_cast<FaultKind>(kind);
  std::vector<uint32_t> targets;
  r.Time("at", fault.at);
  r.Time("for", fault.lasts);
  if (fault.kind == FaultKind::kHostStall) {
    r.Integer("host", 0, topology.hosts - 1, fault.target);
    if (!r.Has("host")) r.Fail(nullptr, "host_stall needs a host, as in host = 3");
    targets = {fault.target};
  } else {
    std::string link = "all";
    r.String("link", link);
    targets = ReadLinks(r, link, topology);
  }
  if (fault.kind == FaultKind::kLinkFlap) {
    fault.period = Millis(1);
    r.Time("period", fault.period);
    if (fault.period < Micros(1)) r.FailKey("period", "must be at least 1us");
  }
  if (fault.kind == FaultKind::kLinkDegraded) {
    fault.share = 0.25;
    r.Number("share", 0.0001, 1, fault.share);
    r.Bool("scale_queues", fault.scale_queues);
  }
  if (fault.kind == FaultKind::kImpairment) {
    Impairment& i = fault.impairment;
    r.Number("loss", 0, 1, i.loss);
    r.Number("burst_enter", 0, 1, i.burst_enter);
    r.Number("burst_leave", 0.000001, 1, i.burst_leave);
    r.Number("corruption", 0, 1, i.corruption);
    r.Number("duplication", 0, 1, i.duplication);
    r.Number("reordering", 0, 1, i.reordering);
    r.Time("reorder_delay", i.reorder_delay);
    if (!i.any()) {
      r.Fail(nullptr,
             "this impairment has no effect; set loss, burst_enter, corruption, "
             "duplication or reordering");
    }
  }
  r.Finish();
  for (const uint32_t target : targets) {
    fault.target = target;
    out.push_back(fault);
  }
}

}  // namespace weir
