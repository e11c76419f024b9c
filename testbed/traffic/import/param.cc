// PARAM communication traces (github.com/facebookresearch/param): one JSON list a rank.
#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "testbed/traffic/import/json_parts.h"
#include "testbed/traffic/import/parts.h"

namespace weir {
namespace {

std::vector<Bytes> Splits(const nlohmann::json& event, const char* key, int64_t element) {
  std::vector<Bytes> out;
  for (const nlohmann::json& count : event.value(key, nlohmann::json::array())) {
    out.push_back(BytesOf(count, element));
  }
  return out;
}

absl::StatusOr<CommTrace> ReadRank(const NamedText& file, uint32_t& world, Unused& unused) {
  CommTrace trace{.file = file.name, .events = {}};
  const nlohmann::json events = nlohmann::json::parse(file.text);
  if (!events.is_array()) return BadFile(file.name, "is not a JSON list of communications");
  for (size_t i = 0; i < events.size(); ++i) {
    const nlohmann::json& e = events[i];
    if (!e.is_object() || !e.contains("comms")) {
      unused.Add(e.is_object() && e.contains("compute") ? "compute of the trace" : "other entry");
      continue;
    }
    const std::string name = e.at("comms").get<std::string>();
    world = std::max(world, Count(e, "world_size", 0));
    CommEvent event{.group = e.contains("pg_id") ? e.at("pg_id").dump() : "",
                    .in_split = {},
                    .root = Count(e, "root", 0),
                    .request = Whole(e, "req", -1),
                    .earliest = Duration(Whole(e, "startTime_ns", 0))};
    if (name == "wait") {
      trace.events.push_back(event);
      continue;
    }
    event.kind = CollectiveNamed(name);
    if (!event.kind.has_value()) {
      unused.Add("\"" + name + "\"");
      continue;
    }
    const std::string type = e.value("dtype", std::string("byte"));
    const int64_t element = ElementBytes(type);
    if (element == 0) {
      return BadFile(file.name, absl::StrFormat("entry %d: dtype \"%s\" is unknown", i, type));
    }
    event.in = BytesOf(e.value("in_msg_size", nlohmann::json(0)), element);
    event.out = BytesOf(e.value("out_msg_size", nlohmann::json(0)), element);
    event.in_split = Splits(e, "in_split", element);
    trace.events.push_back(event);
  }
  return trace;
}

}  // namespace

absl::StatusOr<Workload> ImportParam(const std::vector<NamedText>& files,
                                     const ImportOptions& options) {
  Unused unused;
  uint32_t world = 0;
  std::vector<CommTrace> traces;
  for (const NamedText& file : files) {
    absl::StatusOr<CommTrace> trace = ReadRank(file, world, unused);
    if (!trace.ok()) return trace.status();
    traces.push_back(*std::move(trace));
  }
  const uint32_t ranks = options.ranks > 0 ? options.ranks
                         : world > 0       ? world
                                           : static_cast<uint32_t>(files.size());
  return FromCommTraces(files[0].name, ranks, traces, {}, unused);
}

}  // namespace weir
