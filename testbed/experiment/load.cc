// From TOML text to an Experiment.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_format.h"
#include "datapath/text/table_reader.h"
#include "nic_drivers/host/binding_text.h"
#include "nic_drivers/host/device_text.h"
#include "testbed/experiment/experiment.h"
#include "testbed/experiment/given.h"
#include "testbed/experiment/load_parts.h"

namespace weir {
namespace {

constexpr double kTimeScaleMin = 1e-6;

void ReadRule(TableReader& r, size_t number, const std::vector<std::string>& classes,
              ArmRule& out) {
  int distance = 0;
  r.Choice("distance", {"any", "leaf", "pod", "fabric"}, distance);
  if (distance > 0) out.distance = static_cast<Distance>(distance - 1);
  r.Size("size_min", out.size_min);
  r.Size("size_max", out.size_max);
  if (out.size_max < out.size_min) r.FailKey("size_max", "is below size_min");
  int traffic_class = -1;
  ReadClass(r, classes, traffic_class);
  if (traffic_class >= 0) {
    out.traffic_class = static_cast<uint8_t>(traffic_class);
    out.class_name = classes[static_cast<size_t>(traffic_class)];
  }
  std::vector<std::string> collectives{"sendrecv"};
  for (int i = 0; i < kCollectiveKinds; ++i) {
    collectives.emplace_back(Name(static_cast<CollectiveKind>(i)));
  }
  int collective = -1;
  r.Choice("collective", collectives, collective);
  if (collective >= 0) out.collective = collectives[static_cast<size_t>(collective)];
  ReadBinding(r, out.binding);
  out.name = absl::StrFormat("rule %d", number);
  r.String("name", out.name);
  r.Finish();
  if (out.matches_all()) {
    r.Fail(
        nullptr,
        "a rule needs distance, size_min, size_max, class or collective; what the rest has is the "
        "arm's");
  }
}

void ReadArm(TableReader& r, const std::vector<std::string>& classes, Arm& out) {
  ReadBinding(r, out.binding);
  out.name = std::string(out.binding.cc->name) + "/" + out.binding.lb->name;
  r.String("name", out.name);
  r.Integer("salt", 0, 1'000'000'000, out.salt);
  if (const toml::array* rules = r.Array("rules"); rules != nullptr) {
    for (const toml::node& node : *rules) {
      if (!node.is_table()) return r.Fail(&node, "write [[arms.rules]]");
      TableReader rule(*node.as_table(), "arms.rules", r.file(), r.status());
      ArmRule& added = out.rules.emplace_back();
      ReadRule(rule, out.rules.size(), classes, added);
    }
  }
  r.Finish();
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

}  // namespace

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

namespace {

void ReadTraffic(TableReader& r, const std::vector<std::string>& classes, TrafficSpec& out) {
  int kind = 0;
  const bool named = r.Has("type");
  std::vector<std::string> types{"permutation", "incast", "all_to_all", "ring_all_reduce"};
  const int patterns = static_cast<int>(types.size());
  for (const std::string& job : JobTypeNames()) types.push_back(job);
  r.Choice("type", types, kind);
  if (kind >= patterns) {
    out.kind = TrafficKind::kJobs;
    ReadJob(r, static_cast<size_t>(kind - patterns), classes, out.jobs.emplace_back());
    return r.Finish();
  }
  std::string file;
  r.String("file", file);
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
      r.Time("jitter", out.jitter);
    }
    if (out.kind == TrafficKind::kRingAllReduce) r.Integer("ranks", 2, 1'000'000, out.ranks);
  }
  r.Finish();
}

// One [[jobs]] entry.
void ReadJobTable(TableReader& r, const std::vector<std::string>& classes, TrafficSpec& out) {
  int type = -1;
  r.Choice("type", JobTypeNames(), type);
  if (type < 0) return r.FailKey("type", "is missing: what kind of job it is");
  ReadJob(r, static_cast<size_t>(type), classes, out.jobs.emplace_back());
  r.Finish();
}

void ReadTransport(TableReader& r, HomeKind home, TransportSpec& out) {
  for (const char* key : {"payload", "reorder_window", "rto_min", "ack_delay", "retries"}) {
    if (r.Has(key) && home == HomeKind::kRdma) {
      r.FailKey(key,
                "is of packets, which RDMA devices keep to themselves; drop it, or set home = "
                "\"ports\"");
    }
  }
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
  Bytes chunk(out.chunk);
  r.Size("chunk", chunk);
  if (chunk < KiB(1) || chunk > MiB(4)) r.FailKey("chunk", "must be 1KiB to 4MiB");
  if (r.Has("chunk") && home != HomeKind::kRdma) {
    r.FailKey("chunk", "is of the RDMA mode; drop it, or set home = \"rdma\"");
  }
  out.chunk = static_cast<uint32_t>(chunk.count());
  r.Finish();
}

// "0-5": the first connection from host 0 to host 5.
void ReadSampleFlow(TableReader& r, const std::string& flow, Experiment& out) {
  const bool well_formed = flow.find_first_not_of("0123456789-") == std::string::npos &&
                           flow.size() < 16 && std::count(flow.begin(), flow.end(), '-') == 1 &&
                           flow.front() != '-' && flow.back() != '-';
  if (!well_formed) return r.FailKey("sample_flow", "must be FROM-TO, two hosts, as in \"0-5\"");
  if (out.samples.every == Duration(0)) {
    return r.FailKey("sample_flow", "has no effect without sample_every");
  }
  const size_t dash = flow.find('-');
  out.samples.from = static_cast<uint32_t>(std::stoul(flow.substr(0, dash)));
  out.samples.to = static_cast<uint32_t>(std::stoul(flow.substr(dash + 1)));
  out.samples.any_flow = false;
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
  int home = 0;
  r.Choice("home", {"virtual", "loopback", "ports", "rdma"}, home);
  out.home = static_cast<HomeKind>(home);
  r.Number("time_scale", kTimeScaleMin, 1, out.time_scale);
  r.Bool("breakdown", out.breakdown);
  if (out.breakdown && out.home != HomeKind::kVirtual) {
    r.FailKey("breakdown", "is for virtual time; drop it, or set home = \"virtual\"");
  }
  r.Time("sample_every", out.samples.every);
  std::string flow;
  r.String("sample_flow", flow);
  if (!flow.empty()) ReadSampleFlow(r, flow, out);
  if (out.samples.every < Duration(0)) r.FailKey("sample_every", "must be above 0, as in \"1us\"");
  if (out.samples.every > Duration(0) && out.home != HomeKind::kVirtual) {
    r.FailKey("sample_every", "is for virtual time; drop it, or set home = \"virtual\"");
  }
  if (r.Has("time_scale") && out.home == HomeKind::kVirtual) {
    r.FailKey("time_scale",
              "has no effect in virtual time; drop it, or set home = \"loopback\", \"ports\" or "
              "\"rdma\"");
  }
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

}  // namespace

absl::StatusOr<Experiment> ExperimentFrom(const toml::table& table, const std::string& file) {
  Experiment e;
  absl::Status status;
  TableReader root(table, "top level", file, status);
  int64_t schema = 1;
  root.Integer("schema", 1, 1, schema);
  e.source = file;
  e.given = FlattenGiven(table, file);
  e.name = std::filesystem::path(file).stem().string();
  root.String("name", e.name);
  if (const toml::node* sweep = root.Node("sweep"); sweep != nullptr) {
    root.Fail(sweep, "is for `weir sweep`, which runs all its points; drop it for one run");
  }
  const toml::table empty;
  const auto section = [&](const std::string& key) {
    const toml::table* found = root.Table(key);
    return TableReader(found == nullptr ? empty : *found, key, file, status);
  };
  TableReader fabric = section("fabric");
  ReadFabric(fabric, e.fabric);
  if (root.Has("jobs")) {
    if (root.Has("traffic")) root.FailKey("jobs", "and [traffic] exclude each other; drop one");
    e.traffic.kind = TrafficKind::kJobs;
    ReadTables(root, "jobs", status,
               [&](TableReader& r) { ReadJobTable(r, e.fabric.classes, e.traffic); });
  } else {
    TableReader traffic = section("traffic");
    ReadTraffic(traffic, e.fabric.classes, e.traffic);
  }
  TableReader run = section("run");
  ReadRun(run, e);
  TableReader transport = section("transport");
  ReadTransport(transport, e.home, e.transport);
  // Of a real network only what is said is taken to be true.
  if (e.OverPorts() && !fabric.Has("trimming")) e.fabric.switches.trimming = false;
  ReadTables(root, "ports", status, [&](TableReader& r) {
    ReadDevice(r, e.ports.emplace_back());
    r.Finish();
  });
  ReadTables(root, "faults", status,
             [&](TableReader& r) { ReadFault(r, e.fabric.topology, e.faults); });
  ReadTables(root, "arms", status,
             [&](TableReader& r) { ReadArm(r, e.fabric.classes, e.arms.emplace_back()); });
  root.Finish();
  if (!status.ok()) return status;
  if (e.arms.empty()) {
    return absl::InvalidArgumentError(
        file + ": there is no arm; add [[arms]] with cc and lb, as in cc = \"nscc\"");
  }
  if (absl::Status s = CheckExperiment(e); !s.ok()) return s;
  return e;
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path)) {
    return absl::NotFoundError(path + ": no such file, or it can't be read; check the path");
  }
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string PathFrom(const std::string& file, const std::string& path) {
  const std::filesystem::path p(path);
  if (p.is_absolute()) return path;
  return (std::filesystem::path(file).parent_path() / p).string();
}

absl::StatusOr<toml::table> ParseToml(const std::string& text, const std::string& file) {
  try {
    return toml::table(toml::parse(text, file));
  } catch (const toml::parse_error& error) {
    return absl::InvalidArgumentError(absl::StrFormat("%s:%d: %s", file, error.source().begin.line,
                                                      std::string(error.description())));
  }
}

absl::StatusOr<Experiment> ParseExperiment(const std::string& text, const std::string& file,
                                           const std::vector<std::string>& overrides) {
  absl::StatusOr<toml::table> table = ParseToml(text, file);
  if (!table.ok()) return table.status();
  for (const std::string& set : overrides) {
    if (absl::Status s = ApplyOverride(*table, set); !s.ok()) return s;
  }
  return ExperimentFrom(*table, file);
}

absl::StatusOr<Experiment> LoadExperiment(const std::string& path,
                                          const std::vector<std::string>& overrides) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  return ParseExperiment(*text, path, overrides);
}

}  // namespace weir
