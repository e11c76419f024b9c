#include "testbed/experiment/report.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "absl/strings/str_format.h"
#include "datapath/text/quantity_text.h"
#include "testbed/experiment/arm_rules.h"
#include "testbed/experiment/report_parts.h"
#include "testbed/experiment/report_text.h"

namespace weir {
namespace {

std::string Count(uint64_t n) { return absl::StrFormat("%d", n); }
std::string Ratio2(double x) { return absl::StrFormat("%.3f", x); }

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
    {"last / ideal",
     [](const RunResult& r) {
       return r.ideal > Duration(0) ? Ratio2(Ratio(r.makespan, r.ideal)) : std::string("-");
     }},
    {"slowdown mean", [](const RunResult& r) { return Ratio2(r.slowdown.mean); }},
    {"goodput", [](const RunResult& r) { return PrettyRate(r.goodput_bps); }},
    {"fairness (Jain)", [](const RunResult& r) { return Ratio2(r.fairness); }},
    {"data packets", [](const RunResult& r) { return Count(r.counters.data_packets_sent); }},
    {"retransmissions", [](const RunResult& r) { return Count(r.counters.retransmitted_packets); }},
    {"  spurious", [](const RunResult& r) { return Count(r.counters.spurious_retransmissions); }},
    {"time-outs", [](const RunResult& r) { return Count(r.counters.timeouts); }},
};
// Of a modelled fabric.
const Figure kFabric[] = {
    {"trims", [](const RunResult& r) { return Count(r.fabric->stats.trims); }},
    {"marks", [](const RunResult& r) { return Count(r.fabric->stats.marks); }},
    {"drops", [](const RunResult& r) { return Count(r.fabric->stats.dropped); }},
    {"lost by faults", [](const RunResult& r) { return Count(r.fabric->stats.lost_by_fault); }},
    {"pause time", [](const RunResult& r) { return Pretty(r.fabric->paused); }},
    {"peak queue",
     [](const RunResult& r) {
       return PrettyBytes(static_cast<double>(r.fabric->queue_peak.count()));
     }},
    {"link load max/mean", [](const RunResult& r) { return Ratio2(r.fabric->link_load_ratio); }},
    {"fabric links used", [](const RunResult& r) { return Count(r.fabric->links_used); }},
};
const Figure kMachine[] = {
    {"base RTT", [](const RunResult& r) { return Pretty(r.base_rtt); }},
    {"events", [](const RunResult& r) { return Count(r.events); }},
    {"CPU time", [](const RunResult& r) { return absl::StrFormat("%.3f s", r.cpu_seconds); }},
};
const Figure kDigest = {"digest",
                        [](const RunResult& r) { return absl::StrFormat("%016x", r.digest); }};
// Times are of the experiment's clock.
const Figure kRealTime[] = {
    {"time scale",
     [](const RunResult& r) {
       return absl::StrFormat("%g%s", r.real_time->time_scale,
                              r.real_time->chosen_here ? " (chosen)" : "");
     }},
    {"real time",
     [](const RunResult& r) { return absl::StrFormat("%.3f s", r.real_time->seconds); }},
    {"host threads", [](const RunResult& r) { return Count(r.real_time->host_threads); }},
    {"longest gap hosts", [](const RunResult& r) { return Pretty(r.real_time->host_gap_max); }},
    {"busy hosts", [](const RunResult& r) { return Ratio2(r.real_time->host_busy); }},
    {"missed by ports", [](const RunResult& r) { return Count(r.real_time->missed); }},
    {"host stalls", [](const RunResult& r) { return Count(r.counters.host_stalls); }},
    {"machine",
     [](const RunResult& r) {
       return std::string(r.real_time->too_busy.empty() ? "kept up" : "too busy");
     }},
};

// Of the thread that plays the fabric in real time.
const Figure kFabricThread[] = {
    {"fabric late p99", [](const RunResult& r) { return Pretty(r.real_time->fabric->late_p99); }},
    {"            max", [](const RunResult& r) { return Pretty(r.real_time->fabric->late_max); }},
    {"longest gap fabric", [](const RunResult& r) { return Pretty(r.real_time->fabric->gap_max); }},
    {"busy fabric", [](const RunResult& r) { return Ratio2(r.real_time->fabric->busy); }},
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
        absl::StrFormat("%s=%s%s", spec.name, FormatParam(spec, value), changed);
    if (line.size() + item.size() > kWidth) {
      out += line + "\n";
      line = indent;
    }
    line += (line == indent ? "" : "  ") + item;
  }
  if (line != indent) out += line + "\n";
  return out;
}

// What an importer left out.
std::string UnusedText(const JobSpec& job) {
  const auto* imported = std::get_if<std::shared_ptr<const Workload>>(&job.what);
  if (imported == nullptr) return "";
  std::string out;
  for (const std::string& line : (*imported)->unused) {
    out += absl::StrFormat("            not used of %s: %s\n", (*imported)->name, line);
  }
  return out;
}

// "connections by rule: near 12, no rule 4".
std::string RulesText(const RunResult& r) {
  std::string out = "connections by rule:";
  for (const RuleUse& use : r.rules) {
    out +=
        absl::StrFormat("%s %s %d", &use == r.rules.data() ? "" : ",", use.rule, use.connections);
  }
  return out;
}
}  // namespace

std::string Pretty(Duration duration) { return PrettyNanos(static_cast<double>(duration.count())); }

std::string ResultTable(const std::vector<RunResult>& results) {
  std::vector<TextRow> rows;
  TextRow head{""};
  TextRow seeds{"seed"};
  for (const RunResult& r : results) {
    head.push_back(r.arm);
    seeds.push_back(Count(r.seed));
  }
  rows.push_back(head);
  rows.push_back(seeds);
  const auto add = [&](std::span<const Figure> figures) {
    for (const Figure& figure : figures) {
      TextRow row{figure.name};
      for (const RunResult& r : results) row.push_back(figure.of(r));
      rows.push_back(row);
    }
  };
  // All runs of an experiment are in one home; one that could not begin has no figures of it.
  const auto all = [&](bool (*has)(const RunResult&)) {
    return !results.empty() && std::ranges::all_of(results, has);
  };
  add(kFigures);
  if (all([](const RunResult& r) { return r.fabric.has_value(); })) add(kFabric);
  add(kMachine);
  const bool real_time = all([](const RunResult& r) { return r.real_time.has_value(); });
  add(real_time ? std::span<const Figure>(kRealTime) : std::span<const Figure>(&kDigest, 1));
  if (all([](const RunResult& r) {
        return r.real_time.has_value() && r.real_time->fabric.has_value();
      })) {
    add(kFabricThread);
  }
  std::string out = AlignRows(rows);
  for (const RunResult& r : results) out += OperationTable(r);
  for (const RunResult& r : results) {
    if (!r.rules.empty()) out += absl::StrFormat("%s, seed %d: %s\n", r.arm, r.seed, RulesText(r));
    if (r.real_time.has_value() && !r.real_time->too_busy.empty()) {
      out += absl::StrFormat("TOO BUSY: %s, seed %d: %s\n", r.arm, r.seed, r.real_time->too_busy);
    }
    for (const std::string& warning : r.warnings) {
      out += absl::StrFormat("warning: %s, seed %d: %s\n", r.arm, r.seed, warning);
    }
    for (const std::string& breach : r.breaches) {
      out += absl::StrFormat("BREACH: %s, seed %d: %s\n", r.arm, r.seed, breach);
    }
  }
  return out;
}

namespace {

std::string ClassesText(const FabricSpec& f) {
  if (f.classes.empty()) return "";
  std::string out = "            classes";
  for (size_t i = 0; i < f.classes.size(); ++i) {
    const TrafficClass& c = f.switches.classes[i];
    out += i == 0 ? " " : ", ";
    out += f.classes[i] +
           (c.strict ? std::string(" (strict)") : absl::StrFormat(" (weight %d)", c.weight));
  }
  return out + "\n";
}

std::string QueuesText(const FabricSpec& f) {
  return absl::StrFormat("            queue %s, buffer %s, %s, marks %s to %s%s, last hop %s\n",
                         DepthText(f.queue_limit), DepthText(f.buffer),
                         f.switches.pfc        ? "PFC"
                         : f.switches.trimming ? "trimming"
                                               : "tail drop",
                         DepthText(f.mark_min), DepthText(f.mark_max), f.marking ? "" : " (off)",
                         LastHopText(f.mark_last_hop));
}

}  // namespace

std::string EffectiveConfig(const Experiment& e) {
  const FabricSpec& f = e.fabric;
  std::string out = absl::StrFormat("experiment  %s (%s)\n", e.name, e.source);
  out += absl::StrFormat("fabric      %s\n", f.topology.name);
  if (e.OverPorts()) {
    out += absl::StrFormat("            as described; between the ports is a real one%s%s\n",
                           f.marking ? ", which may mark" : "",
                           f.switches.trimming ? ", which trims" : "");
  } else {
    out += QueuesText(f);
  }
  out += ClassesText(f);
  out += absl::StrFormat("home        %s\n", HomeText(e));
  out += absl::StrFormat("traffic     %s\n", e.traffic.name);
  for (const JobSpec& job : e.traffic.jobs) out += UnusedText(job);
  if (e.home == HomeKind::kRdma) {
    out += absl::StrFormat("transport   chunks of %d B\n", e.transport.chunk);
  } else {
    out += absl::StrFormat("transport   payload %d B, IP%s, %d faults scheduled\n",
                           e.transport.payload, e.transport.v6 ? "v6" : "v4", e.faults.size());
  }
  for (const Arm& arm : e.arms) {
    const Binding& b = arm.binding;
    out += absl::StrFormat("arm         %s: %s over %s, %d paths\n", arm.name, b.cc->name,
                           b.lb->name, b.paths);
    out += ParamsText(b.cc->params, b.cc_config, b.cc->defaults());
    out += ParamsText(b.lb->params, b.lb_config, b.lb->defaults());
    for (const ArmRule& rule : arm.rules) {
      const Binding& other = rule.binding;
      out += absl::StrFormat("            %s (%s): %s over %s, %d paths\n", rule.name,
                             RuleText(rule), other.cc->name, other.lb->name, other.paths);
      out += ParamsText(other.cc->params, other.cc_config, other.cc->defaults());
      out += ParamsText(other.lb->params, other.lb_config, other.lb->defaults());
    }
  }
  out += "            (* differs from the default; what a 0 stands for: `weir show cc NAME`)\n";
  return out;
}

}  // namespace weir
