// PyTorch profiler (Kineto) traces: Chrome trace JSON, one file a rank. What starts when is
// replayed, never how long it took: that is mostly waiting for the slowest rank.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "testbed/traffic/import/json_parts.h"
#include "testbed/traffic/import/parts.h"

namespace weir {
namespace {

using nlohmann::json;

struct RankTrace {
  std::string file;
  uint32_t rank = 0;
  Duration begin = Duration::Max();  // of its first event
  std::vector<std::pair<Duration, CommEvent>> events;
  std::vector<Duration> kernels;  // starts of communication kernels
};

std::string TextOf(const json& args, const char* key) {
  const json value = args.value(key, json());
  return value.is_string() ? value.get<std::string>() : "";
}

// "[96, 224, 288]", which profilers may cut short: then the numbers can't be trusted.
std::vector<Bytes> SplitOf(const std::string& text, int64_t element) {
  if (text.find("...") != std::string::npos) return {};
  std::vector<Bytes> out;
  for (const std::string& word : SplitWords(text, "[], ")) {
    const std::optional<int64_t> count = WholeNumber(word, 0, kSizeMax / 64);
    if (!count.has_value()) return {};
    out.push_back(Bytes(*count * element));
  }
  return out;
}

Bytes ElementsOf(const json& dims) {
  double product = 1;
  if (!dims.is_array() || dims.empty()) return Bytes(0);
  for (const json& d : dims) product *= d.is_number() ? d.get<double>() : 0;
  return BytesOf(json(product), 1);
}

// Newer traces name everything in the arguments of record_param_comms.
std::optional<CommEvent> FromArguments(const json& args, Unused& unused) {
  const std::string name = TextOf(args, "Collective name");
  if (name.empty()) return std::nullopt;
  CommEvent event{.kind = CollectiveNamed(name), .in_split = {}};
  if (!event.kind.has_value()) {
    if (name != "wait") unused.Add("\"" + name + "\"");
    return std::nullopt;
  }
  const int64_t element = std::max<int64_t>(1, ElementBytes(TextOf(args, "dtype")));
  event.in = BytesOf(args.value("In msg nelems", json(0)), element);
  event.out = BytesOf(args.value("Out msg nelems", json(0)), element);
  event.in_split = SplitOf(TextOf(args, "In split size"), element);
  event.group = TextOf(args, "Process Group Name");
  return event;
}

// Older ones have an annotation "nccl:all_reduce" with the shape of its input.
std::optional<CommEvent> FromAnnotation(const std::string& name, const json& args, Unused& unused) {
  CommEvent event{.kind = CollectiveNamed(name.substr(name.find(':') + 1)), .in_split = {}};
  if (!event.kind.has_value()) {
    unused.Add("\"" + name + "\"");
    return std::nullopt;
  }
  const json dims = args.value("Input Dims", json::array());
  const json types = args.value("Input type", json::array());
  if (!dims.is_array() || dims.empty() || !types.is_array() || types.empty() ||
      !types[0].is_string()) {
    unused.Add("\"" + name + "\" without a shape");
    return std::nullopt;
  }
  const int64_t element = std::max<int64_t>(1, ElementBytes(types[0].get<std::string>()));
  event.in = BytesOf(json(ElementsOf(dims[0]).count()), element);
  event.out = event.in;
  return event;
}

absl::StatusOr<RankTrace> ReadRank(const NamedText& file, uint32_t position, uint32_t& world,
                                   Unused& unused) {
  const json trace = json::parse(file.text);
  if (!trace.is_object() || !trace.contains("traceEvents")) {
    return BadFile(file.name, "has no \"traceEvents\"; it is no profiler trace");
  }
  RankTrace out{.file = file.name, .events = {}, .kernels = {}};
  const json info = trace.value("distributedInfo", json::object());
  out.rank = Count(info, "rank", position);
  world = std::max(world, Count(info, "world_size", 0));
  std::vector<std::pair<Duration, CommEvent>> annotated;
  for (const json& e : trace.at("traceEvents")) {
    if (!e.is_object() || e.value("ph", json()) != "X") continue;
    const std::string name = TextOf(e, "name");
    const std::string category = TextOf(e, "cat");
    const Duration at = MicrosOf(e.value("ts", json()));
    out.begin = std::min(out.begin, at);
    const json args = e.value("args", json::object());
    std::optional<CommEvent> event;
    if (category == "kernel" && name.find("nccl") != std::string::npos) {
      out.kernels.push_back(at);
    } else if (name == "record_param_comms" && args.is_object()) {
      event = FromArguments(args, unused);
      if (event.has_value()) out.events.emplace_back(at, *event);
    } else if (name.rfind("nccl:", 0) == 0 && category == "user_annotation" && args.is_object()) {
      event = FromAnnotation(name, args, unused);
      if (event.has_value()) annotated.emplace_back(at, *event);
    }
  }
  if (out.events.empty()) out.events = std::move(annotated);
  const auto by_time = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::stable_sort(out.events.begin(), out.events.end(), by_time);
  std::sort(out.kernels.begin(), out.kernels.end());
  return out;
}

}  // namespace

absl::StatusOr<Workload> ImportKineto(const std::vector<NamedText>& files,
                                      const ImportOptions& options) {
  Unused unused;
  uint32_t world = static_cast<uint32_t>(files.size());
  std::vector<RankTrace> ranks;
  for (const NamedText& file : files) {
    absl::StatusOr<RankTrace> rank =
        ReadRank(file, static_cast<uint32_t>(ranks.size()), world, unused);
    if (!rank.ok()) return rank.status();
    ranks.push_back(*std::move(rank));
  }
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const RankTrace& a, const RankTrace& b) { return a.rank < b.rank; });
  // The ranks' clocks are one clock: the first event of all is time 0.
  Duration begin = Duration::Max();
  for (const RankTrace& rank : ranks) begin = std::min(begin, rank.begin);
  std::vector<CommTrace> traces;
  for (const RankTrace& rank : ranks) {
    CommTrace trace{.file = rank.file, .events = {}};
    // A communication begins with its kernel, where each has one.
    const bool kernels = rank.kernels.size() == rank.events.size();
    if (!kernels) unused.Add("communication kernels of a rank: not as many as communications");
    for (size_t i = 0; i < rank.events.size(); ++i) {
      CommEvent event = rank.events[i].second;
      event.earliest = (kernels ? rank.kernels[i] : rank.events[i].first) - begin;
      trace.events.push_back(event);
    }
    traces.push_back(std::move(trace));
  }
  return FromCommTraces(files[0].name, options.ranks > 0 ? options.ranks : world, traces, {},
                        unused);
}

}  // namespace weir
