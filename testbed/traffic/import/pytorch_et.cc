// PyTorch execution traces: JSON, one file a rank, without times.
#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "testbed/traffic/import/json_parts.h"
#include "testbed/traffic/import/parts.h"

namespace weir {
namespace {

using nlohmann::json;

// [tensor, storage, offset, elements, bytes of one, device]; or a list of such.
bool IsTensor(const json& value) {
  return value.is_array() && value.size() >= 5 && value[0].is_number() && value[3].is_number() &&
         value[4].is_number();
}
Bytes SizeOfTensors(const json& value) {
  if (IsTensor(value)) {
    const double element = value[4].get<double>();
    return element > 0 && element < 64 ? BytesOf(value[3], static_cast<int64_t>(element))
                                       : Bytes(0);
  }
  Bytes total{};
  if (value.is_array()) {
    for (const json& item : value) {
      if (item.is_array()) total = std::min(Bytes(kSizeMax), total + SizeOfTensors(item));
    }
  }
  return total;
}

class RankReader {
 public:
  RankReader(const NamedText& file, std::map<std::string, std::vector<uint32_t>>& groups,
             uint32_t& world, Unused& unused)
      : file_(file), groups_(groups), world_(world), unused_(unused) {}

  absl::StatusOr<CommTrace> Read() {
    const json trace = json::parse(file_.text);
    if (!trace.is_object() || !trace.contains("nodes")) {
      return BadFile(file_.name, "has no \"nodes\"; it is no PyTorch execution trace");
    }
    CommTrace out{.file = file_.name, .events = {}};
    for (const json& node : trace.at("nodes")) {
      const std::string name = node.value("name", std::string());
      if (name.find("process_group:init") != std::string::npos) ReadGroups(Inputs(node));
      if (name != "record_param_comms") continue;
      std::optional<CommEvent> event = ReadEvent(node);
      if (event.has_value()) out.events.push_back(*std::move(event));
    }
    return out;
  }

 private:
  // Of schemas before 1.0.2 and since.
  static json Inputs(const json& node) { return Side(node, "inputs"); }
  static json Side(const json& node, const char* key) {
    const json side = node.value(key, json::array());
    return side.is_object() ? side.value("values", json::array()) : side;
  }

  void ReadGroups(const json& inputs) {
    if (inputs.empty() || !inputs[0].is_string()) return;
    for (const json& group : json::parse(inputs[0].get<std::string>())) {
      world_ = std::max(world_, Count(group, "group_size", 0));
      std::vector<uint32_t>& ranks = groups_[group.value("pg_name", std::string())];
      ranks.clear();
      for (const json& rank : group.value("ranks", json::array())) {
        if (rank.is_number_unsigned()) ranks.push_back(rank.get<uint32_t>());
      }
    }
  }

  // The name's place says whether there is a tensor before it.
  std::optional<CommEvent> ReadEvent(const json& node) {
    const json inputs = Inputs(node);
    if (!inputs.is_array()) return std::nullopt;
    size_t name_at = 0;
    while (name_at < inputs.size() && !inputs[name_at].is_string()) ++name_at;
    if (name_at == inputs.size() || name_at == 0) {
      unused_.Add("record_param_comms without a name");
      return std::nullopt;
    }
    const std::string name = inputs[name_at].get<std::string>();
    const bool has_tensor = inputs[0].is_array();
    const size_t request_at = has_tensor ? 1 : 0;
    CommEvent event{.in_split = {}};
    if (inputs[request_at].is_number_integer()) event.request = inputs[request_at].get<int64_t>();
    if (name == "wait") return event;
    event.kind = CollectiveNamed(name);
    if (!event.kind.has_value()) {
      unused_.Add("\"" + name + "\"");
      return std::nullopt;
    }
    event.in = SizeOfTensors(inputs[0]);
    event.out = SizeOfTensors(Side(node, "outputs"));
    if (name_at + 1 < inputs.size() && has_tensor) {
      const Bytes elements = CountOf(inputs[name_at + 1]);
      for (const json& count : inputs[name_at + 1]) {
        if (elements == Bytes(0)) break;
        event.in_split.push_back(BytesOf(count, std::max<int64_t>(1, event.in / elements)));
      }
      world_ = std::max(world_, static_cast<uint32_t>(event.in_split.size()));
    }
    // Since 1.0.2: the size of the group at the end.
    if (inputs.size() > name_at + 3 && inputs.back().is_number_unsigned() &&
        inputs.back().get<uint64_t>() <= kRanksMax) {
      world_ = std::max(world_, inputs.back().get<uint32_t>());
    }
    return event;
  }
  static Bytes CountOf(const json& splits) {
    Bytes total{};
    for (const json& count : splits) total += BytesOf(count, 1);
    return total;
  }

  const NamedText& file_;
  std::map<std::string, std::vector<uint32_t>>& groups_;
  uint32_t& world_;
  Unused& unused_;
};

}  // namespace

absl::StatusOr<Workload> ImportPytorchEt(const std::vector<NamedText>& files,
                                         const ImportOptions& options) {
  Unused unused;
  uint32_t world = static_cast<uint32_t>(files.size());
  std::map<std::string, std::vector<uint32_t>> groups;
  std::vector<CommTrace> traces;
  for (const NamedText& file : files) {
    absl::StatusOr<CommTrace> trace = RankReader(file, groups, world, unused).Read();
    if (!trace.ok()) return trace.status();
    traces.push_back(*std::move(trace));
  }
  unused.Add("compute between communications: these traces have no times");
  return FromCommTraces(files[0].name, options.ranks > 0 ? options.ranks : world, traces, groups,
                        unused);
}

}  // namespace weir
