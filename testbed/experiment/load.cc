// From TOML text to an Experiment.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cc_algos/registry.h"
#include "lb_policies/registry.h"
#include "testbed/experiment/experiment.h"
#include "testbed/experiment/load_parts.h"
#include "testbed/experiment/quantity_text.h"
#include "testbed/experiment/table_reader.h"

namespace weir {
namespace {

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path)) {
    return absl::NotFoundError(path + ": no such file, or it can't be read; check the path");
  }
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// One value of an override: true, 12, 0.5 and [..] are themselves, the rest is a string.
void Insert(toml::table& table, const std::string& key, const std::string& text) {
  try {
    toml::table parsed = toml::parse(key + " = " + text);
    table.insert_or_assign(key, *parsed.get(key));
  } catch (const toml::parse_error&) {
    table.insert_or_assign(key, text);
  }
}

absl::Status ApplyOverride(toml::table& root, const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return absl::InvalidArgumentError("--set " + text +
                                      ": write section.key=value, as in fabric.rate=100Gbps");
  }
  std::string path = text.substr(0, equals);
  toml::node* at = &root;
  while (true) {
    const size_t dot = path.find('.');
    const std::string part = path.substr(0, dot);
    if (toml::array* array = at->as_array()) {
      const bool number = !part.empty() && std::all_of(part.begin(), part.end(), ::isdigit);
      const size_t index = number ? std::stoul(part.substr(0, 6)) : array->size();
      if (index >= array->size() || dot == std::string::npos) {
        return absl::InvalidArgumentError(absl::StrFormat(
            "--set %s: \"%s\" must be a number below %d, then a key", text, part, array->size()));
      }
      at = array->get(index);
    } else if (toml::table* table = at->as_table()) {
      if (dot == std::string::npos) {
        Insert(*table, part, text.substr(equals + 1));
        return absl::OkStatus();
      }
      if (!table->contains(part)) table->insert(part, toml::table{});
      at = table->get(part);
    } else {
      return absl::InvalidArgumentError("--set " + text + ": \"" + part + "\" is not in a table");
    }
    path = path.substr(dot + 1);
  }
}

std::string PathFrom(const std::string& file, const std::string& path) {
  const std::filesystem::path p(path);
  if (p.is_absolute()) return path;
  return (std::filesystem::path(file).parent_path() / p).string();
}

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

void ReadFabric(TableReader& r, FabricSpec& out) {
  std::string file;
  r.String("file", file);
  int kind = 2;
  const bool named = r.Has("topology");
  r.Choice("topology", {"single_bottleneck", "dumbbell", "leaf_spine", "fat_tree"}, kind);
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
  SwitchConfig& s = out.switches;
  s.trimming = true;
  r.Bool("trimming", s.trimming);
  r.Bool("telemetry", s.telemetry);
  r.DepthOf("queue_limit", out.queue_limit);
  r.DepthOf("control_limit", out.control_limit);
  r.DepthOf("buffer", out.buffer);
  r.Number("alpha", 0.001, 1000, s.alpha);
  r.Bool("marking", out.marking);
  r.DepthOf("mark_min", out.mark_min);
  r.DepthOf("mark_max", out.mark_max);
  r.Number("mark_probability", 0, 1, s.mark_probability);
  r.Bool("mark_on_enqueue", s.mark_on_enqueue);
  int last_hop = 0;
  r.Choice("mark_last_hop", {"auto", "on", "off"}, last_hop);
  out.mark_last_hop = static_cast<FabricSpec::LastHop>(last_hop);
  r.Bool("pfc", s.pfc);
  r.DepthOf("pfc_xoff", out.pfc_xoff);
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

void ReadTraffic(TableReader& r, TrafficSpec& out) {
  std::string file;
  r.String("file", file);
  int kind = 0;
  const bool named = r.Has("type");
  r.Choice("type", {"permutation", "incast", "all_to_all", "ring_all_reduce"}, kind);
  if (!file.empty()) {
    if (named) r.FailKey("file", "and type exclude each other; drop one");
    const absl::StatusOr<std::string> text = ReadFile(PathFrom(r.file(), file));
    if (!text.ok()) return r.FailKey("file", std::string(text.status().message()));
    absl::StatusOr<Traffic> matrix = ParseConnectionMatrix(*text, file);
    if (!matrix.ok()) return r.FailKey("file", std::string(matrix.status().message()));
    out.kind = TrafficKind::kMatrix;
    out.matrix = *std::move(matrix);
  } else {
    out.kind = static_cast<TrafficKind>(kind + 1);
    r.Size("size", out.size);
    if (out.size <= Bytes(0) || out.size > Bytes(kMessageMax)) {
      r.FailKey("size", absl::StrFormat("must be 1 B to %d B", kMessageMax));
    }
    if (out.kind == TrafficKind::kIncast) {
      r.Integer("senders", 1, 1'000'000, out.senders);
      r.Integer("receiver", 0, 1'000'000, out.receiver);
    }
    if (out.kind == TrafficKind::kRingAllReduce) r.Integer("ranks", 2, 1'000'000, out.ranks);
  }
  r.Finish();
}

void ReadTransport(TableReader& r, TransportSpec& out) {
  Bytes payload(out.payload);
  r.Size("payload", payload);
  if (payload < Bytes(64) || payload > Bytes(8900)) {
    r.FailKey("payload", "must be 64B to 8900B: it fits one jumbo frame");
  }
  out.payload = static_cast<uint16_t>(payload.count());
  int ip = 0;
  r.Choice("ip", {"v4", "v6"}, ip);
  out.v6 = ip == 1;
  r.Time("reorder_window", out.reorder_window);
  r.Time("rto_min", out.rto_min);
  r.Time("ack_delay", out.ack_delay);
  r.Integer("retries", 1, 100, out.retries_max);
  r.Finish();
}

// Sets parameters by their names in the plug-in's own table.
void ReadParams(TableReader& arm, const std::string& key, std::span<const ParamSpec> specs,
                const std::string& plugin, ConfigBlob& config,
                std::vector<std::pair<std::string, std::string>>& written) {
  const toml::table* table = arm.Table(key);
  if (table == nullptr) return;
  std::vector<std::string> names;
  for (const ParamSpec& spec : specs) names.emplace_back(spec.name);
  for (const auto& [name_key, node] : *table) {
    const std::string name(name_key.str());
    const auto spec = std::find_if(specs.begin(), specs.end(),
                                   [&](const ParamSpec& s) { return name == s.name; });
    if (spec == specs.end()) {
      const std::string near = Nearest(name, names);
      arm.Fail(&node, absl::StrFormat("%s: %s has no parameter \"%s\"; %s", key, plugin, name,
                                      near.empty() ? "it has " + absl::StrJoin(names, ", ")
                                                   : "did you mean \"" + near + "\"?"));
      return;
    }
    std::ostringstream text;
    if (node.is_string()) {
      text << node.as_string()->get();
    } else {
      node.visit([&text](const auto& value) {
        if constexpr (toml::is_value<decltype(value)>) text << value;
      });
    }
    const absl::StatusOr<double> value = ParseParam(*spec, text.str());
    if (!value.ok()) {
      arm.Fail(&node, key + "." + name + ": " + std::string(value.status().message()));
      return;
    }
    spec->set(config.data(), *value);
    written.emplace_back(name, text.str());
  }
}

template <class Entry, class Find, class All>
const Entry* Lookup(TableReader& r, const std::string& key, const std::string& kind,
                    std::string name, Find find, All all) {
  r.String(key, name);
  if (const Entry* entry = find(name.c_str())) return entry;
  std::vector<std::string> names;
  for (const Entry& entry : all) names.emplace_back(entry.name);
  r.FailKey(key, absl::StrFormat("there is no %s \"%s\"; choose one of %s", kind, name,
                                 absl::StrJoin(names, ", ")));
  return &all[0];
}

void ReadArm(TableReader& r, Arm& out) {
  Binding& b = out.binding;
  b.cc = Lookup<CcEntry>(r, "cc", "algorithm", "nscc", FindCc, AllCc());
  b.lb = Lookup<LbEntry>(r, "lb", "policy", "reps", FindLb, AllLb());
  b.cc_config = b.cc->defaults();
  b.lb_config = b.lb->defaults();
  ReadParams(r, "cc_params", b.cc->params, b.cc->name, b.cc_config, out.cc_set);
  ReadParams(r, "lb_params", b.lb->params, b.lb->name, b.lb_config, out.lb_set);
  r.Integer("paths", 1, 65536, b.paths);
  out.name = std::string(b.cc->name) + "/" + b.lb->name;
  r.String("name", out.name);
  r.Finish();
}

void ReadRun(TableReader& r, Experiment& out) {
  const toml::node* seeds = r.Node("seeds");
  if (seeds != nullptr && seeds->is_integer()) {
    int64_t count = 1;
    r.Integer("seeds", 1, 100'000, count);
    out.seeds.clear();
    for (int64_t i = 1; i <= count; ++i) out.seeds.push_back(static_cast<uint64_t>(i));
  } else if (seeds != nullptr) {
    const toml::array* array = r.Array("seeds");
    out.seeds.clear();
    if (array != nullptr) {
      for (const toml::node& node : *array) {
        if (!node.is_integer()) return r.FailKey("seeds", "must be a count or whole numbers");
        out.seeds.push_back(static_cast<uint64_t>(node.as_integer()->get()));
      }
    }
    if (out.seeds.empty()) r.FailKey("seeds", "must hold at least one seed");
  }
  r.Time("time_limit", out.time_limit);
  r.Finish();
}

template <class Fn>
void ReadTables(TableReader& root, const std::string& key, absl::Status& status, Fn fn) {
  const toml::array* array = root.Array(key);
  if (array == nullptr) return;
  for (const toml::node& node : *array) {
    if (!node.is_table()) return root.Fail(&node, "write [[" + key + "]]");
    TableReader r(*node.as_table(), key, root.file(), status);
    fn(r);
  }
}

absl::StatusOr<Experiment> FromTable(const toml::table& table, const std::string& file) {
  Experiment e;
  absl::Status status;
  TableReader root(table, "top level", file, status);
  int64_t schema = 1;
  root.Integer("schema", 1, 1, schema);
  e.source = file;
  e.name = std::filesystem::path(file).stem().string();
  root.String("name", e.name);
  int home = 0;
  root.Choice("home", {"virtual"}, home);
  const toml::table empty;
  const auto section = [&](const std::string& key) {
    const toml::table* found = root.Table(key);
    return TableReader(found == nullptr ? empty : *found, key, file, status);
  };
  TableReader fabric = section("fabric");
  ReadFabric(fabric, e.fabric);
  TableReader traffic = section("traffic");
  ReadTraffic(traffic, e.traffic);
  TableReader transport = section("transport");
  ReadTransport(transport, e.transport);
  TableReader run = section("run");
  ReadRun(run, e);
  ReadTables(root, "faults", status,
             [&](TableReader& r) { ReadFault(r, e.fabric.topology, e.faults); });
  ReadTables(root, "arms", status, [&](TableReader& r) { ReadArm(r, e.arms.emplace_back()); });
  root.Finish();
  if (!status.ok()) return status;
  if (e.arms.empty()) {
    return absl::InvalidArgumentError(
        file + ": there is no arm; add [[arms]] with cc and lb, as in cc = \"nscc\"");
  }
  if (absl::Status s = CheckExperiment(e); !s.ok()) return s;
  return e;
}

}  // namespace

absl::StatusOr<Experiment> ParseExperiment(const std::string& text, const std::string& file,
                                           const std::vector<std::string>& overrides) {
  toml::table table;
  try {
    table = toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    return absl::InvalidArgumentError(absl::StrFormat("%s:%d: %s", file, error.source().begin.line,
                                                      std::string(error.description())));
  }
  for (const std::string& set : overrides) {
    if (absl::Status s = ApplyOverride(table, set); !s.ok()) return s;
  }
  return FromTable(table, file);
}

absl::StatusOr<Experiment> LoadExperiment(const std::string& path,
                                          const std::vector<std::string>& overrides) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  return ParseExperiment(*text, path, overrides);
}

Traffic MakeTraffic(const TrafficSpec& spec, uint32_t hosts, uint64_t seed) {
  switch (spec.kind) {
    case TrafficKind::kMatrix:
      break;
    case TrafficKind::kPermutation:
      return Permutation(hosts, spec.size, seed);
    case TrafficKind::kIncast:
      return Incast(hosts, spec.senders, spec.receiver, spec.size);
    case TrafficKind::kAllToAll:
      return AllToAll(hosts, spec.size);
    case TrafficKind::kRingAllReduce:
      return RingAllReduce(hosts, spec.ranks == 0 ? hosts : spec.ranks, spec.size);
  }
  return spec.matrix;
}

Signals SignalsOf(const FabricSpec& fabric) {
  Signals signals = Signal::kRtt | Signal::kCredit | Signal::kNicTimestamps;
  if (fabric.marking) signals = signals | Signal::kMarkEcho | Signal::kCnp;
  if (fabric.switches.telemetry) signals = signals | Signal::kTelemetry;
  if (fabric.switches.trimming) signals = signals | Signal::kTrimNotice;
  return signals;
}

absl::Status CheckExperiment(const Experiment& e) {
  const uint32_t hosts = e.fabric.topology.hosts;
  const auto fail = [&e](const std::string& message) {
    return absl::InvalidArgumentError(e.source + ": " + message);
  };
  if (e.traffic.kind == TrafficKind::kMatrix && e.traffic.matrix.hosts > hosts) {
    return fail(
        absl::StrFormat("the matrix is for %d hosts, the fabric has %d; choose a larger "
                        "topology",
                        e.traffic.matrix.hosts, hosts));
  }
  if (e.traffic.kind == TrafficKind::kIncast &&
      (e.traffic.senders >= hosts || e.traffic.receiver >= hosts)) {
    return fail(
        absl::StrFormat("incast of %d senders to host %d needs more than the %d hosts of "
                        "the fabric",
                        e.traffic.senders, e.traffic.receiver, hosts));
  }
  if (e.traffic.kind == TrafficKind::kRingAllReduce && e.traffic.ranks > hosts) {
    return fail(absl::StrFormat("%d ranks on %d hosts: one rank a host", e.traffic.ranks, hosts));
  }
  if (hosts < 2) return fail("the fabric has fewer than two hosts");
  const Signals have = SignalsOf(e.fabric);
  for (const Arm& arm : e.arms) {
    const Signals missing = (arm.binding.cc->needs | arm.binding.lb->needs).Without(have);
    for (const Signal s : kAllSignals) {
      if (!missing.Has(s)) continue;
      return fail(absl::StrFormat(
          "arm \"%s\": %s with %s needs %s, which this fabric does not give; set marking, "
          "telemetry or trimming in [fabric], or choose another algorithm",
          arm.name, arm.binding.cc->name, arm.binding.lb->name, Name(s)));
    }
  }
  return absl::OkStatus();
}

}  // namespace weir
