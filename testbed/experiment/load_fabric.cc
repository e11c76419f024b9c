// [fabric] of an experiment file.
#include <algorithm>

#include "absl/strings/str_format.h"
#include "datapath/text/quantity_text.h"
#include "datapath/wire.h"
#include "testbed/experiment/load_parts.h"
#include "testbed/fabric/paths.h"

namespace weir {
namespace {

void ReadShape(TableReader& r, int kind, Topology& out) {
  const auto common = [&r](auto& shape) {
    r.Speed("rate", shape.rate);
    r.Time("delay", shape.delay);
  };
  if (kind == 0) {
    SingleBottleneckShape shape;
    common(shape);
    r.Integer("senders", 1, 100'000, shape.senders);
    out = SingleBottleneck(shape);
  } else if (kind == 1) {
    DumbbellShape shape;
    common(shape);
    shape.bottleneck = shape.rate;
    r.Integer("pairs", 1, 100'000, shape.pairs);
    r.Speed("bottleneck", shape.bottleneck);
    out = Dumbbell(shape);
  } else if (kind == 2) {
    LeafSpineShape shape;
    common(shape);
    r.Integer("leaves", 1, 4096, shape.leaves);
    r.Integer("hosts_per_leaf", 1, 4096, shape.hosts_per_leaf);
    r.Integer("spines", 1, 4096, shape.spines);
    r.Integer("bundle", 1, 64, shape.bundle);
    r.Speed("uplink_rate", shape.uplink_rate);
    out = LeafSpine(shape);
  } else if (kind == 4 || kind == 5) {
    RailShape shape{.planes = kind == 5};
    common(shape);
    r.Integer("groups", 1, 4096, shape.groups);
    r.Integer("nodes_per_group", 1, 4096, shape.nodes_per_group);
    r.Integer(shape.planes ? "planes" : "rails", 1, 64, shape.rails);
    r.Integer("spines", 1, 4096, shape.spines);
    r.Integer("bundle", 1, 64, shape.bundle);
    r.Speed("uplink_rate", shape.uplink_rate);
    out = RailOptimised(shape);
  } else {
    FatTreeShape shape;
    common(shape);
    r.Integer("pods", 1, 1024, shape.pods);
    r.Integer("leaves_per_pod", 1, 1024, shape.leaves_per_pod);
    r.Integer("aggs_per_pod", 1, 1024, shape.aggs_per_pod);
    r.Integer("hosts_per_leaf", 1, 1024, shape.hosts_per_leaf);
    r.Integer("cores", 1, 65536, shape.cores);
    r.Speed("uplink_rate", shape.uplink_rate);
    r.Speed("core_rate", shape.core_rate);
    if (shape.cores % shape.aggs_per_pod != 0) {
      return r.FailKey("cores", absl::StrFormat("is %d; it must be a multiple of aggs_per_pod, %d",
                                                shape.cores, shape.aggs_per_pod));
    }
    out = FatTree(shape);
  }
}

// nic_rates: NICs of several speeds.
void ReadNicRates(TableReader& r, Topology& out) {
  const toml::array* rates = r.Array("nic_rates");
  if (rates == nullptr) return;
  std::vector<Rate> read;
  for (const toml::node& node : *rates) {
    const absl::StatusOr<Rate> rate = ParseRate(node.value_or(std::string()));
    if (!rate.ok() || *rate == Rate(0)) {
      return r.FailKey("nic_rates",
                       "has something that is no rate; write [\"400Gbps\", \"200Gbps\"]");
    }
    read.push_back(*rate);
  }
  if (read.empty()) return r.FailKey("nic_rates", "is empty; write [\"400Gbps\", \"200Gbps\"]");
  SetHostRates(out, read);
}

void ReadDepth(TableReader& r, const std::string& key, Depth& out) {
  const std::string text = r.Quantity(key, "1bdp\" or \"64KiB");
  if (text.empty()) return;
  const size_t unit = text.find("bdp");
  if (unit == std::string::npos) {
    const absl::StatusOr<Bytes> value = ParseBytes(text);
    if (!value.ok()) {
      return r.FailKey(key, std::string(value.status().message()) + ", or bdp as in \"0.8bdp\"");
    }
    out = {.bytes = *value};
    return;
  }
  char* end = nullptr;
  const double bdps = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + unit || unit + 3 != text.size() || !(bdps >= 0 && bdps <= 1e6)) {
    return r.FailKey(key, "is \"" + text + "\"; write bandwidth-delay products as in \"0.8bdp\"");
  }
  out = {.bdps = bdps};
}

// [[fabric.classes]]
void ReadClasses(TableReader& r, FabricSpec& out) {
  const toml::array* classes = r.Array("classes");
  if (classes == nullptr) return;
  for (const toml::node& node : *classes) {
    if (!node.is_table()) return r.Fail(&node, "write [[fabric.classes]]");
    TableReader one(*node.as_table(), "fabric.classes", r.file(), r.status());
    std::string name;
    TrafficClass added;
    one.String("name", name);
    one.Bool("strict", added.strict);
    one.Integer("weight", 1, TrafficClass::kWeightMax, added.weight);
    if (added.strict && one.Has("weight")) {
      one.FailKey("weight",
                  "and strict exclude each other: a strict class does not wait for shares");
    }
    if (name.empty()) one.FailKey("name", "is missing: jobs name their class by it");
    if (std::ranges::find(out.classes, name) != out.classes.end()) {
      one.FailKey("name", "is \"" + name + "\", as another class's; give each a name of its own");
    }
    one.Finish();
    out.classes.push_back(name);
    out.switches.classes.push_back(added);
  }
  if (out.classes.size() > kTrafficClasses) {
    r.FailKey("classes", absl::StrFormat("are %d; packets tell %d apart", out.classes.size(),
                                         kTrafficClasses));
  }
}

}  // namespace

void ReadFabric(TableReader& r, FabricSpec& out) {
  std::string file;
  r.String("file", file);
  int kind = 2;
  const bool named = r.Has("topology");
  r.Choice(
      "topology",
      {"single_bottleneck", "dumbbell", "leaf_spine", "fat_tree", "rail_optimised", "multi_plane"},
      kind);
  if (!file.empty()) {
    if (named) r.FailKey("file", "and topology exclude each other; drop one");
    const absl::StatusOr<std::string> text = ReadFile(PathFrom(r.file(), file));
    if (!text.ok()) return r.FailKey("file", std::string(text.status().message()));
    absl::StatusOr<Topology> topology = ParseTopo(*text, file);
    if (!topology.ok()) return r.FailKey("file", std::string(topology.status().message()));
    out.topology = *std::move(topology);
  } else {
    ReadShape(r, kind, out.topology);
  }
  ReadNicRates(r, out.topology);
  SwitchConfig& s = out.switches;
  s.trimming = true;
  r.Bool("trimming", s.trimming);
  r.Bool("telemetry", s.telemetry);
  r.Bool("path_load", s.path_load);
  r.Time("load_period", s.load_period);
  ReadDepth(r, "queue_limit", out.queue_limit);
  ReadDepth(r, "control_limit", out.control_limit);
  ReadDepth(r, "buffer", out.buffer);
  r.Number("alpha", 0.001, 1000, s.alpha);
  r.Bool("marking", out.marking);
  ReadDepth(r, "mark_min", out.mark_min);
  ReadDepth(r, "mark_max", out.mark_max);
  r.Number("mark_probability", 0, 1, s.mark_probability);
  r.Bool("mark_on_enqueue", s.mark_on_enqueue);
  int last_hop = 0;
  r.Choice("mark_last_hop", {"auto", "on", "off"}, last_hop);
  out.mark_last_hop = static_cast<FabricSpec::LastHop>(last_hop);
  ReadClasses(r, out);
  r.Bool("pfc", s.pfc);
  ReadDepth(r, "pfc_xoff", out.pfc_xoff);
  r.Number("pfc_alpha", 0.0001, 100, s.pfc_alpha);
  int balancing = 0;
  r.Choice("balancing", {"ecmp", "adaptive", "round_robin"}, balancing);
  s.balancing = static_cast<SwitchBalancing>(balancing);
  r.Bool("same_seed", s.same_seed);
  r.Time("reroute_after", s.reroute_after);
  if (s.pfc && s.trimming && r.Has("trimming")) {
    r.FailKey("pfc", "and trimming exclude each other: a lossless queue never trims");
  }
  if (s.pfc) s.trimming = false;
  if (s.pfc && out.buffer.zero() && out.pfc_xoff.zero()) {
    r.FailKey("pfc", "needs a buffer (buffer = \"16MB\") or a fixed pfc_xoff");
  }
  r.Finish();
}

}  // namespace weir
