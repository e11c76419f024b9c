// Reading of .cm files. Format: uet-htsim, htsim/sim/datacenter/connection_matrix.cpp.
// Departure: `prio` is checked and then ignored, as nothing here has priorities between transfers.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "testbed/text_lines.h"
#include "testbed/traffic/runs.h"
#include "testbed/traffic/traffic.h"

namespace weir {
namespace {

constexpr uint64_t kHostsMax = 1 << 20;
constexpr uint64_t kIdMax = 0xFFFF'FFFF;
constexpr uint64_t kSizeMax = 0xFFFF'FFFF;  // the length field of a message is 32 bits
constexpr uint64_t kPicosMax = 0x7FFF'FFFF'FFFF'FFFF;
constexpr uint64_t kPicosPerNano = 1000;

struct WordSpec {
  const char* name;
  uint64_t min;
  uint64_t max;
};

enum HeaderKey : size_t { kNodes, kConnections, kTriggers, kFailures, kHeaderKeys };
constexpr WordSpec kHeaderSpecs[kHeaderKeys] = {{"Nodes", 2, kHostsMax},
                                                {"Connections", 0, kIdMax},
                                                {"Triggers", 0, kIdMax},
                                                {"Failures", 0, 0}};

enum FlowKey : size_t { kId, kStart, kAfter, kSize, kSendDone, kRecvDone, kPrio, kFlowKeys };
constexpr WordSpec kFlowSpecs[kFlowKeys] = {
    {"id", 0, kIdMax},     {"start", 0, kPicosMax},          {"trigger", 0, kIdMax},
    {"size", 1, kSizeMax}, {"send_done_trigger", 0, kIdMax}, {"recv_done_trigger", 0, kIdMax},
    {"prio", 0, kIdMax}};
constexpr char kFlowForm[] =
    "\"src->dst [id F] [start PS | trigger T] size BYTES [send_done_trigger T] "
    "[recv_done_trigger T] [prio P] [msg]\"";
constexpr char kTriggerForm[] = "\"trigger id T oneshot|multishot|barrier [count K]\"";
constexpr char kFaultRemedy[] =
    "faults are not read from the matrix; describe them in the experiment's [[faults]] and remove "
    "the line";

struct FlowLine {
  int line = 0;
  uint64_t from = 0;
  uint64_t to = 0;
  std::array<std::optional<uint64_t>, kFlowKeys> values{};
  bool message = false;  // of a connection shared with others of its id
};

class MatrixReader {
 public:
  explicit MatrixReader(const std::string& file) : file_(file) {}

  absl::StatusOr<Traffic> Read(const std::string& text);

 private:
  struct Entry {
    int line = 1;
    std::optional<uint64_t> value;
  };

  absl::Status AddLine(const TextLine& line);
  absl::Status AddHeader(const TextLine& line, HeaderKey key);
  absl::Status AddFlow(const TextLine& line);
  absl::Status AddField(const TextLine& line, size_t at, FlowLine& flow) const;
  absl::Status AddTrigger(const TextLine& line);
  absl::Status CheckFlow(const FlowLine& flow) const;
  absl::Status CheckCount(HeaderKey key, size_t found) const;
  absl::Status CheckRuns() const;
  absl::Status AddTransfer(const FlowLine& flow);
  uint32_t ConnectionOf(const FlowLine& flow);
  absl::Status Resolve(const FlowLine& flow, FlowKey key, uint32_t& trigger) const;
  template <typename... Args>
  absl::Status Error(int line, const absl::FormatSpec<Args...>& format, const Args&... args) const {
    return ErrorAt(file_, line, absl::StrFormat(format, args...));
  }

  const std::string& file_;
  std::array<Entry, kHeaderKeys> header_{};
  std::vector<FlowLine> flows_;
  std::map<uint64_t, uint32_t> trigger_of_id_;
  // By source, destination and id.
  std::map<std::tuple<uint64_t, uint64_t, uint64_t>, uint32_t> shared_;
  Traffic traffic_;
};

absl::StatusOr<Traffic> MatrixReader::Read(const std::string& text) {
  for (const TextLine& line : SplitLines(text)) {
    if (absl::Status s = AddLine(line); !s.ok()) return s;
  }
  for (const HeaderKey key : {kNodes, kConnections}) {
    if (header_[key].value.has_value()) continue;
    return Error(1, "no %s; add the line \"%s <number>\"", kHeaderSpecs[key].name,
                 kHeaderSpecs[key].name);
  }
  if (absl::Status s = CheckCount(kConnections, flows_.size()); !s.ok()) return s;
  if (absl::Status s = CheckCount(kTriggers, traffic_.triggers.size()); !s.ok()) return s;
  traffic_.name = file_.substr(file_.rfind('/') + 1);
  traffic_.hosts = static_cast<uint32_t>(*header_[kNodes].value);
  for (const FlowLine& flow : flows_) {
    if (absl::Status s = CheckFlow(flow); !s.ok()) return s;
    if (absl::Status s = AddTransfer(flow); !s.ok()) return s;
  }
  if (absl::Status s = CheckRuns(); !s.ok()) return s;
  return std::move(traffic_);
}

absl::Status MatrixReader::AddLine(const TextLine& line) {
  const std::string& first = line.words[0];
  for (const HeaderKey key : {kNodes, kConnections, kTriggers, kFailures}) {
    if (first == kHeaderSpecs[key].name) return AddHeader(line, key);
  }
  if (first == "trigger") return AddTrigger(line);
  if (first == "failure") return Error(line.number, "%s", kFaultRemedy);
  if (first.find("->") != std::string::npos) return AddFlow(line);
  return Error(line.number,
               "\"%s\" starts no line of a matrix; write Nodes, Connections or Triggers with a "
               "number, %s or %s",
               first, kFlowForm, kTriggerForm);
}

absl::Status MatrixReader::AddHeader(const TextLine& line, HeaderKey key) {
  const WordSpec& spec = kHeaderSpecs[key];
  Entry& entry = header_[key];
  if (entry.value.has_value()) {
    return Error(line.number, "%s is given again; line %d has it, so remove one", spec.name,
                 entry.line);
  }
  uint64_t value = 0;
  if (line.words.size() != 2 || !ParseDigits(line.words[1], spec.max, &value) || value < spec.min) {
    if (key == kFailures) return Error(line.number, "%s", kFaultRemedy);
    return Error(line.number, "bad %s; write \"%s\" and one whole number from %d to %d", spec.name,
                 spec.name, spec.min, spec.max);
  }
  entry = {.line = line.number, .value = value};
  return absl::OkStatus();
}

absl::Status MatrixReader::AddFlow(const TextLine& line) {
  FlowLine flow{.line = line.number};
  const std::string& pair = line.words[0];
  const size_t arrow = pair.find("->");
  if (!ParseDigits(pair.substr(0, arrow), kIdMax, &flow.from) ||
      !ParseDigits(pair.substr(arrow + 2), kIdMax, &flow.to)) {
    return Error(line.number, "\"%s\" names no two hosts; write \"3->7\"", pair);
  }
  for (size_t at = 1; at < line.words.size(); ++at) {
    if (line.words[at] == "msg") {
      flow.message = true;
      continue;
    }
    if (absl::Status s = AddField(line, at, flow); !s.ok()) return s;
    ++at;
  }
  flows_.push_back(flow);
  return absl::OkStatus();
}

// Reads the word at `at` and the number after it.
absl::Status MatrixReader::AddField(const TextLine& line, size_t at, FlowLine& flow) const {
  const std::string& word = line.words[at];
  for (size_t key = 0; key < kFlowKeys; ++key) {
    const WordSpec& spec = kFlowSpecs[key];
    if (word != spec.name) continue;
    if (flow.values[key].has_value()) {
      return Error(line.number, "%s is given twice; remove one", spec.name);
    }
    const std::string text = at + 1 < line.words.size() ? line.words[at + 1] : "";
    uint64_t value = 0;
    if (ParseDigits(text, spec.max, &value) && value >= spec.min) {
      flow.values[key] = value;
      return absl::OkStatus();
    }
    return Error(line.number, "%s is \"%s\"; write a whole number from %d to %d%s", spec.name, text,
                 spec.min, spec.max,
                 key == kSize ? ", and split what is larger into several flows" : "");
  }
  return Error(line.number, "unknown word \"%s\"; a flow is %s", word, kFlowForm);
}

absl::Status MatrixReader::AddTrigger(const TextLine& line) {
  const std::vector<std::string>& w = line.words;
  const bool counted = w.size() == 6 && w[4] == "count";
  uint64_t id = 0;
  uint64_t count = 1;
  if ((w.size() != 4 && !counted) || w[1] != "id" || !ParseDigits(w[2], kIdMax, &id) ||
      (w[3] != "oneshot" && w[3] != "multishot" && w[3] != "barrier") ||
      (counted && (!ParseDigits(w[5], kIdMax, &count) || count == 0))) {
    return Error(line.number, "not a trigger; write %s", kTriggerForm);
  }
  if (w[3] == "barrier" && !counted) {
    return Error(line.number, "barrier %d has no count; add \"count K\", the firings it waits for",
                 id);
  }
  if (!trigger_of_id_.emplace(id, traffic_.triggers.size()).second) {
    return Error(line.number, "trigger %d is defined twice; give each its own id", id);
  }
  traffic_.triggers.push_back(
      {.count = static_cast<uint32_t>(count), .repeats = w[3] == "multishot"});
  return absl::OkStatus();
}

absl::Status MatrixReader::CheckFlow(const FlowLine& flow) const {
  const uint64_t hosts = *header_[kNodes].value;
  if (flow.from >= hosts || flow.to >= hosts) {
    return Error(flow.line, "%d->%d with Nodes %d; hosts are numbered from 0 to %d", flow.from,
                 flow.to, hosts, hosts - 1);
  }
  if (flow.from == flow.to) {
    return Error(flow.line, "%d->%d sends to itself; name two hosts", flow.from, flow.to);
  }
  if (!flow.values[kSize].has_value()) {
    return Error(flow.line, "no size; a flow is %s", kFlowForm);
  }
  if (flow.values[kStart].has_value() && flow.values[kAfter].has_value()) {
    return Error(flow.line, "both start and trigger; a flow starts by one of them");
  }
  if (flow.message && !flow.values[kId].has_value()) {
    return Error(flow.line, "msg without an id; add \"id F\", the connection of the message");
  }
  return absl::OkStatus();
}

absl::Status MatrixReader::CheckCount(HeaderKey key, size_t found) const {
  const uint64_t said = header_[key].value.value_or(0);
  if (said == found) return absl::OkStatus();
  return Error(header_[key].line, "%s is %d, but %d follow; write \"%s %d\" or look for lost lines",
               kHeaderSpecs[key].name, said, found, kHeaderSpecs[key].name, found);
}

// A dependency that can't be met must not look like a finished experiment.
absl::Status MatrixReader::CheckRuns() const {
  const std::optional<std::vector<uint32_t>> runs = CountRuns(traffic_);
  if (!runs.has_value()) {
    return Error(1, "multishot triggers start each other without end; make one of them oneshot");
  }
  for (size_t i = 0; i < runs->size(); ++i) {
    if ((*runs)[i] > 0) continue;
    return Error(flows_[i].line,
                 "trigger %d never starts this flow; let flows that do start name it in "
                 "send_done_trigger or recv_done_trigger, as often as its count",
                 flows_[i].values[kAfter].value_or(0));
  }
  return absl::OkStatus();
}

absl::Status MatrixReader::AddTransfer(const FlowLine& flow) {
  const uint64_t position = traffic_.transfers.size() + 1;
  Transfer transfer{
      .size = Bytes(static_cast<int64_t>(*flow.values[kSize])),
      // Rounds down: what starts within a nanosecond starts together.
      .start = Nanos(static_cast<int64_t>(flow.values[kStart].value_or(0) / kPicosPerNano)),
      .label = static_cast<uint32_t>(flow.values[kId].value_or(position))};
  if (absl::Status s = Resolve(flow, kAfter, transfer.after); !s.ok()) return s;
  if (absl::Status s = Resolve(flow, kSendDone, transfer.on_sent); !s.ok()) return s;
  if (absl::Status s = Resolve(flow, kRecvDone, transfer.on_received); !s.ok()) return s;
  transfer.connection = ConnectionOf(flow);
  traffic_.transfers.push_back(transfer);
  return absl::OkStatus();
}

uint32_t MatrixReader::ConnectionOf(const FlowLine& flow) {
  const uint32_t fresh = static_cast<uint32_t>(traffic_.connections.size());
  if (flow.message) {
    const auto [it, added] = shared_.try_emplace({flow.from, flow.to, *flow.values[kId]}, fresh);
    if (!added) return it->second;
  }
  traffic_.connections.push_back(
      {.from = static_cast<uint32_t>(flow.from), .to = static_cast<uint32_t>(flow.to)});
  return fresh;
}

// Ids in the file are any numbers; triggers are known by their place.
absl::Status MatrixReader::Resolve(const FlowLine& flow, FlowKey key, uint32_t& trigger) const {
  if (!flow.values[key].has_value()) return absl::OkStatus();
  const auto it = trigger_of_id_.find(*flow.values[key]);
  if (it == trigger_of_id_.end()) {
    return Error(flow.line, "%s %d is not defined; add \"trigger id %d oneshot\"",
                 kFlowSpecs[key].name, *flow.values[key], *flow.values[key]);
  }
  trigger = it->second;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Traffic> ParseConnectionMatrix(const std::string& text, const std::string& file) {
  return MatrixReader(file).Read(text);
}

}  // namespace weir
