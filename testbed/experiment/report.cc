#include "testbed/experiment/report.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "datapath/text/quantity_text.h"

namespace weir {
namespace {

using Row = std::vector<std::string>;

// Columns as wide as their widest cell; the first to the left, the others to the right.
std::string Align(const std::vector<Row>& rows) {
  std::vector<size_t> width;
  for (const Row& row : rows) {
    width.resize(std::max(width.size(), row.size()), 0);
    for (size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::string out;
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string pad(width[i] - row[i].size(), ' ');
      out += i == 0 ? row[i] + pad : "  " + pad + row[i];
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  return out;
}

std::string PrettyNanos(double ns) {
  const double size = std::abs(ns);
  if (size >= 1e9) return absl::StrFormat("%.3f s", ns / 1e9);
  if (size >= 1e6) return absl::StrFormat("%.3f ms", ns / 1e6);
  if (size >= 1e3) return absl::StrFormat("%.2f us", ns / 1e3);
  return absl::StrFormat("%.0f ns", ns);
}
std::string PrettyBytes(double bytes) {
  const double size = std::abs(bytes);
  if (size >= 1e6) return absl::StrFormat("%.2f MB", bytes / 1e6);
  if (size >= 1e3) return absl::StrFormat("%.1f kB", bytes / 1e3);
  return absl::StrFormat("%.0f B", bytes);
}
std::string PrettyRate(double bps) { return absl::StrFormat("%.2f Gb/s", bps / 1e9); }
std::string Count(uint64_t n) { return absl::StrFormat("%d", n); }
std::string Ratio2(double x) { return absl::StrFormat("%.3f", x); }

std::string PrettyIn(const std::string& unit, double value) {
  if (unit == "ns") return PrettyNanos(value);
  if (unit == "bytes") return PrettyBytes(value);
  if (unit == "bps") return PrettyRate(value);
  if (unit == "packets") return absl::StrFormat("%.1f", value);
  return absl::StrFormat("%.4f", value);
}

struct Figure {
  const char* name;
  std::string (*of)(const RunResult&);
};
const Figure kFigures[] = {
    {"transfers finished",
     [](const RunResult& r) {
       return absl::StrFormat("%d of %d", r.completion.count, r.transfers.size());
     }},
    {"completion mean", [](const RunResult& r) { return PrettyNanos(r.completion.mean); }},
    {"           median", [](const RunResult& r) { return PrettyNanos(r.completion.median); }},
    {"           p99", [](const RunResult& r) { return PrettyNanos(r.completion.p99); }},
    {"           last", [](const RunResult& r) { return Pretty(r.makespan); }},
    {"ideal last", [](const RunResult& r) { return Pretty(r.ideal); }},
    {"last / ideal", [](const RunResult& r) { return Ratio2(Ratio(r.makespan, r.ideal)); }},
    {"slowdown mean", [](const RunResult& r) { return Ratio2(r.slowdown.mean); }},
    {"goodput", [](const RunResult& r) { return PrettyRate(r.goodput_bps); }},
    {"fairness (Jain)", [](const RunResult& r) { return Ratio2(r.fairness); }},
    {"data packets", [](const RunResult& r) { return Count(r.counters.data_packets_sent); }},
    {"retransmissions", [](const RunResult& r) { return Count(r.counters.retransmitted_packets); }},
    {"  spurious", [](const RunResult& r) { return Count(r.counters.spurious_retransmissions); }},
    {"time-outs", [](const RunResult& r) { return Count(r.counters.timeouts); }},
    {"trims", [](const RunResult& r) { return Count(r.fabric.trims); }},
    {"marks", [](const RunResult& r) { return Count(r.fabric.marks); }},
    {"drops", [](const RunResult& r) { return Count(r.fabric.dropped); }},
    {"lost by faults", [](const RunResult& r) { return Count(r.fabric.lost_by_fault); }},
    {"pause time", [](const RunResult& r) { return Pretty(r.paused); }},
    {"peak queue",
     [](const RunResult& r) { return PrettyBytes(static_cast<double>(r.queue_peak.count())); }},
    {"link load max/mean", [](const RunResult& r) { return Ratio2(r.link_load_ratio); }},
    {"fabric links used", [](const RunResult& r) { return Count(r.links_used); }},
    {"base RTT", [](const RunResult& r) { return Pretty(r.base_rtt); }},
    {"simulated events", [](const RunResult& r) { return Count(r.events); }},
    {"CPU time", [](const RunResult& r) { return absl::StrFormat("%.3f s", r.cpu_seconds); }},
    {"digest", [](const RunResult& r) { return absl::StrFormat("%016x", r.digest); }},
};

// "name = value" of all parameters, wrapped; those that differ from their default carry a '*'.
std::string ParamsText(std::span<const ParamSpec> specs, const ConfigBlob& config,
                       const ConfigBlob& defaults) {
  constexpr size_t kWidth = 96;
  const std::string indent(14, ' ');
  std::string out;
  std::string line = indent;
  for (const ParamSpec& spec : specs) {
    const double value = spec.get(config.data());
    const char* changed = value == spec.get(defaults.data()) ? "" : "*";
    const std::string item =
        absl::StrFormat("%s=%s%s", spec.name, FormatParam(spec.unit, value), changed);
    if (line.size() + item.size() > kWidth) {
      out += line + "\n";
      line = indent;
    }
    line += (line == indent ? "" : "  ") + item;
  }
  if (line != indent) out += line + "\n";
  return out;
}
nlohmann::json ParamsJson(std::span<const ParamSpec> specs, const ConfigBlob& config) {
  nlohmann::json out = nlohmann::json::object();
  for (const ParamSpec& spec : specs) {
    out[spec.name] = FormatParam(spec.unit, spec.get(config.data()));
  }
  return out;
}

std::string DepthText(const Depth& depth) {
  return depth.bdps > 0 ? absl::StrFormat("%gbdp", depth.bdps) : Format(depth.bytes);
}
const char* LastHopText(FabricSpec::LastHop last_hop) {
  switch (last_hop) {
    case FabricSpec::LastHop::kAuto:
      return "auto (off for algorithms whose receiver grants)";
    case FabricSpec::LastHop::kOn:
      return "on";
    case FabricSpec::LastHop::kOff:
      return "off";
  }
  return "?";
}

std::string TrafficText(const Experiment& e) {
  return MakeTraffic(e.traffic, e.fabric.topology.hosts, e.seeds.front()).name;
}

nlohmann::json SummaryJson(const Summary& s) {
  return {{"count", s.count}, {"mean", s.mean}, {"median", s.median},
          {"p99", s.p99},     {"min", s.min},   {"max", s.max}};
}
nlohmann::json OrNull(Duration d) {
  return d == Duration::Max() ? nlohmann::json(nullptr) : nlohmann::json(d.count());
}

}  // namespace

std::string Pretty(Duration duration) { return PrettyNanos(static_cast<double>(duration.count())); }

std::string ResultTable(const std::vector<RunResult>& results) {
  std::vector<Row> rows;
  Row head{""};
  Row seeds{"seed"};
  for (const RunResult& r : results) {
    head.push_back(r.arm);
    seeds.push_back(Count(r.seed));
  }
  rows.push_back(head);
  rows.push_back(seeds);
  for (const Figure& figure : kFigures) {
    Row row{figure.name};
    for (const RunResult& r : results) row.push_back(figure.of(r));
    rows.push_back(row);
  }
  std::string out = Align(rows);
  for (const RunResult& r : results) {
    for (const std::string& warning : r.warnings) {
      out += absl::StrFormat("warning: %s, seed %d: %s\n", r.arm, r.seed, warning);
    }
    for (const std::string& breach : r.breaches) {
      out += absl::StrFormat("BREACH: %s, seed %d: %s\n", r.arm, r.seed, breach);
    }
  }
  return out;
}

std::string EffectiveConfig(const Experiment& e) {
  const FabricSpec& f = e.fabric;
  std::string out = absl::StrFormat("experiment  %s (%s)\n", e.name, e.source);
  out += absl::StrFormat("fabric      %s\n", f.topology.name);
  out += absl::StrFormat("            queue %s, buffer %s, %s, marks %s to %s%s, last hop %s\n",
                         DepthText(f.queue_limit), DepthText(f.buffer),
                         f.switches.pfc        ? "PFC"
                         : f.switches.trimming ? "trimming"
                                               : "tail drop",
                         DepthText(f.mark_min), DepthText(f.mark_max), f.marking ? "" : " (off)",
                         LastHopText(f.mark_last_hop));
  out += absl::StrFormat("traffic     %s\n", TrafficText(e));
  out += absl::StrFormat("transport   payload %d B, IP%s, %d faults scheduled\n",
                         e.transport.payload, e.transport.v6 ? "v6" : "v4", e.faults.size());
  for (const Arm& arm : e.arms) {
    const Binding& b = arm.binding;
    out += absl::StrFormat("arm         %s: %s over %s, %d paths\n", arm.name, b.cc->name,
                           b.lb->name, b.paths);
    out += ParamsText(b.cc->params, b.cc_config, b.cc->defaults());
    out += ParamsText(b.lb->params, b.lb_config, b.lb->defaults());
  }
  out += "            (* differs from the default; what a 0 stands for: `weir show cc NAME`)\n";
  return out;
}

nlohmann::json ToJson(const RunResult& r) {
  nlohmann::json transfers = nlohmann::json::array();
  for (const TransferResult& t : r.transfers) {
    transfers.push_back({{"from", t.from},
                         {"to", t.to},
                         {"label", t.label},
                         {"size_bytes", t.size.count()},
                         {"start_ns", OrNull(t.start)},
                         {"sent_ns", OrNull(t.sent)},
                         {"received_ns", OrNull(t.received)},
                         {"ideal_ns", t.ideal.count()}});
  }
  const Counters& c = r.counters;
  const FabricStats& f = r.fabric;
  return {{"arm", r.arm},
          {"seed", r.seed},
          {"finished", r.finished},
          {"completion_ns", SummaryJson(r.completion)},
          {"slowdown", SummaryJson(r.slowdown)},
          {"makespan_ns", r.makespan.count()},
          {"ideal_ns", r.ideal.count()},
          {"goodput_bps", r.goodput_bps},
          {"fairness", r.fairness},
          {"link_load_ratio", r.link_load_ratio},
          {"links_used", r.links_used},
          {"queue_peak_bytes", r.queue_peak.count()},
          {"base_rtt_ns", r.base_rtt.count()},
          {"bdp_bytes", r.bdp.count()},
          {"pauses", r.pauses},
          {"paused_ns", r.paused.count()},
          {"events", r.events},
          {"cpu_seconds", r.cpu_seconds},
          {"digest", absl::StrFormat("%016x", r.digest)},
          {"counters",
           {{"data_packets_sent", c.data_packets_sent},
            {"data_bytes_sent", c.data_bytes_sent},
            {"retransmitted_packets", c.retransmitted_packets},
            {"spurious_retransmissions", c.spurious_retransmissions},
            {"lost_by_trim", c.lost_by_trim},
            {"lost_by_order", c.lost_by_order},
            {"lost_by_time", c.lost_by_time},
            {"lost_by_timeout", c.lost_by_timeout},
            {"timeouts", c.timeouts},
            {"probes_sent", c.probes_sent},
            {"acks_sent", c.acks_sent},
            {"acks_received", c.acks_received},
            {"marks_received", c.marks_received},
            {"marks_echoed", c.marks_echoed},
            {"cnps_sent", c.cnps_sent},
            {"cnps_received", c.cnps_received},
            {"credits_sent", c.credits_sent},
            {"duplicates_received", c.duplicates_received},
            {"bad_checksums", c.bad_checksums},
            {"host_stalls", c.host_stalls}}},
          {"fabric",
           {{"injected", f.injected},
            {"delivered", f.delivered},
            {"dropped", f.dropped},
            {"trims", f.trims},
            {"marks", f.marks},
            {"lost_by_fault", f.lost_by_fault},
            {"corrupted", f.corrupted},
            {"duplicated", f.duplicated},
            {"reordered", f.reordered},
            {"hops", f.hops}}},
          {"warnings", r.warnings},
          {"breaches", r.breaches},
          {"transfers", transfers}};
}

nlohmann::json ToJson(const Experiment& e) {
  const FabricSpec& f = e.fabric;
  nlohmann::json arms = nlohmann::json::array();
  for (const Arm& arm : e.arms) {
    arms.push_back({{"name", arm.name},
                    {"cc", arm.binding.cc->name},
                    {"lb", arm.binding.lb->name},
                    {"paths", arm.binding.paths},
                    {"cc_params", ParamsJson(arm.binding.cc->params, arm.binding.cc_config)},
                    {"lb_params", ParamsJson(arm.binding.lb->params, arm.binding.lb_config)}});
  }
  return {{"name", e.name},
          {"source", e.source},
          {"home", "virtual"},
          {"topology", f.topology.name},
          {"hosts", f.topology.hosts},
          {"queue_limit", DepthText(f.queue_limit)},
          {"buffer", DepthText(f.buffer)},
          {"mark_min", f.marking ? DepthText(f.mark_min) : "off"},
          {"mark_max", f.marking ? DepthText(f.mark_max) : "off"},
          {"mark_last_hop", LastHopText(f.mark_last_hop)},
          {"trimming", f.switches.trimming},
          {"pfc", f.switches.pfc},
          {"traffic", TrafficText(e)},
          {"payload_bytes", e.transport.payload},
          {"ip", e.transport.v6 ? "v6" : "v4"},
          {"faults", e.faults.size()},
          {"seeds", e.seeds},
          {"time_limit_ns", e.time_limit.count()},
          {"arms", arms}};
}

nlohmann::json ToJson(const AbResult& ab) {
  nlohmann::json rows = nlohmann::json::array();
  for (const AbDifference& d : ab.differences) {
    rows.push_back({{"arm", d.arm},
                    {"metric", d.metric},
                    {"unit", d.unit},
                    {"lower_is_better", d.lower_is_better},
                    {"pairs", d.difference.pairs},
                    {"baseline_mean", d.difference.mean_a},
                    {"mean", d.difference.mean_b},
                    {"difference", d.difference.difference},
                    {"low", d.difference.low},
                    {"high", d.difference.high},
                    {"relative", d.relative},
                    {"shown", d.difference.shown}});
  }
  return {{"baseline", ab.baseline}, {"seeds", ab.seeds}, {"differences", rows}};
}

nlohmann::json Document(const Experiment& experiment, const std::vector<RunResult>& results,
                        const AbResult* ab) {
  nlohmann::json runs = nlohmann::json::array();
  for (const RunResult& r : results) runs.push_back(ToJson(r));
  nlohmann::json document = {{"schema", "weir.result/1"},
                             {"version", WEIR_VERSION},
                             {"compiler", __VERSION__},
                             {"experiment", ToJson(experiment)},
                             {"results", runs}};
  if (ab != nullptr) document["ab"] = ToJson(*ab);
  return document;
}

std::string AbTable(const AbResult& ab) {
  std::vector<Row> rows;
  rows.push_back({"", ab.baseline, "other", "difference", "95 % interval", "verdict"});
  std::string arm;
  for (const AbDifference& d : ab.differences) {
    if (d.arm != arm) {
      arm = d.arm;
      rows.push_back({arm});
    }
    const PairedDifference& p = d.difference;
    const bool better = d.lower_is_better ? p.difference < 0 : p.difference > 0;
    rows.push_back({"  " + d.metric, PrettyIn(d.unit, p.mean_a), PrettyIn(d.unit, p.mean_b),
                    absl::StrFormat("%+.2f %%", 100 * d.relative),
                    PrettyIn(d.unit, p.low) + " .. " + PrettyIn(d.unit, p.high),
                    !p.shown ? "no difference shown"
                    : better ? "better"
                             : "worse"});
  }
  return Align(rows) + absl::StrFormat("paired over %d seeds; differences are to %s\n",
                                       ab.seeds.size(), ab.baseline);
}

}  // namespace weir
