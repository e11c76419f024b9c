// Results for programs.
#include "absl/strings/str_format.h"
#include "datapath/text/quantity_text.h"
#include "testbed/experiment/arm_rules.h"
#include "testbed/experiment/fingerprint.h"
#include "testbed/experiment/report.h"
#include "testbed/experiment/report_parts.h"

namespace weir {
namespace {

nlohmann::json ParamsJson(std::span<const ParamSpec> specs, const ConfigBlob& config) {
  nlohmann::json out = nlohmann::json::object();
  for (const ParamSpec& spec : specs) {
    out[spec.name] = FormatParam(spec, spec.get(config.data()));
  }
  return out;
}

nlohmann::json SummaryJson(const Summary& s) {
  return {{"count", s.count}, {"mean", s.mean}, {"median", s.median},
          {"p99", s.p99},     {"min", s.min},   {"max", s.max}};
}
nlohmann::json OrNull(Duration d) {
  return d == Duration::Max() ? nlohmann::json(nullptr) : nlohmann::json(d.count());
}
std::vector<int64_t> CountsOf(const std::vector<Bytes>& sizes) {
  std::vector<int64_t> out;
  for (const Bytes size : sizes) out.push_back(size.count());
  return out;
}
nlohmann::json SamplesJson(const Samples& s) {
  std::vector<int64_t> at;
  for (const Duration d : s.at) at.push_back(d.count());
  return {{"every_ns", s.every.count()},
          {"at_ns", at},
          {"queue_max_bytes", CountsOf(s.queue_max)},
          {"queue_mean_bytes", CountsOf(s.queue_mean)},
          {"load_max", s.load_max},
          {"load_mean", s.load_mean},
          {"delivered_bps", s.delivered_bps},
          {"flow", s.flow},
          {"window_bytes", s.window_bytes},
          {"rate_bps", s.rate_bps},
          {"in_flight_bytes", CountsOf(s.in_flight)}};
}
nlohmann::json RealTimeJson(const RealTimeStats& s) {
  nlohmann::json out = {{"time_scale", s.time_scale},
                        {"time_scale_chosen", s.chosen_here},
                        {"host_threads", s.host_threads},
                        {"host_gap_max_ns", s.host_gap_max.count()},
                        {"host_busy", s.host_busy},
                        {"seconds", s.seconds},
                        {"missed", s.missed},
                        {"too_busy", s.too_busy}};
  if (s.fabric.has_value()) {
    out["fabric_late_max_ns"] = s.fabric->late_max.count();
    out["fabric_late_p99_ns"] = s.fabric->late_p99.count();
    out["fabric_gap_max_ns"] = s.fabric->gap_max.count();
    out["fabric_busy"] = s.fabric->busy;
  }
  return out;
}

// null where no model of a fabric took part.
void AddFabric(const RunResult& r, nlohmann::json& out) {
  for (const char* key :
       {"link_load_ratio", "links_used", "queue_peak_bytes", "pauses", "paused_ns", "fabric"}) {
    out[key] = nullptr;
  }
  if (!r.fabric.has_value()) return;
  const FabricStats& s = r.fabric->stats;
  out["link_load_ratio"] = r.fabric->link_load_ratio;
  out["links_used"] = r.fabric->links_used;
  out["queue_peak_bytes"] = r.fabric->queue_peak.count();
  out["pauses"] = r.fabric->pauses;
  out["paused_ns"] = r.fabric->paused.count();
  out["fabric"] = {{"injected", s.injected},   {"delivered", s.delivered},
                   {"dropped", s.dropped},     {"trims", s.trims},
                   {"marks", s.marks},         {"lost_by_fault", s.lost_by_fault},
                   {"corrupted", s.corrupted}, {"duplicated", s.duplicated},
                   {"reordered", s.reordered}, {"hops", s.hops}};
}

nlohmann::json BreakdownJson(const Breakdown& breakdown) {
  nlohmann::json out = nlohmann::json::object();
  for (size_t i = 0; i < breakdown.size(); ++i) {
    out[Name(static_cast<TimePart>(i))] = breakdown[i].count();
  }
  return out;
}

nlohmann::json OperationJson(const OperationResult& o) {
  nlohmann::json out = {{"name", o.name},
                        {"size_bytes", o.size.count()},
                        {"ranks", o.ranks},
                        {"first_arrival_ns", OrNull(o.first_arrival)},
                        {"last_arrival_ns", OrNull(o.last_arrival)},
                        {"end_ns", OrNull(o.end)},
                        {"last_rank", o.last_rank},
                        {"ideal_ns", o.ideal.count()},
                        {"algbw_Bps", o.finished() ? o.algorithm_bandwidth() : 0},
                        {"busbw_Bps", o.finished() ? o.bus_bandwidth() : 0}};
  if (!o.breakdown.empty()) out["breakdown_ns"] = BreakdownJson(o.breakdown);
  return out;
}
nlohmann::json JobJson(const JobResult& j) {
  nlohmann::json steps = nlohmann::json::array();
  for (const StepResult& s : j.steps) {
    steps.push_back({{"time_ns", OrNull(s.time)},
                     {"compute_ns", s.compute.count()},
                     {"exposed_ns", s.exposed.count()}});
    if (!s.breakdown.empty()) steps.back()["breakdown_ns"] = BreakdownJson(s.breakdown);
  }
  nlohmann::json slow = nlohmann::json::array();
  for (const JobResult::SlowRank& s : j.slow_ranks) {
    slow.push_back({{"rank", s.rank}, {"lateness_ns", s.lateness.count()}});
  }
  return {{"name", j.name}, {"ranks", j.ranks}, {"steps", steps}, {"slow_ranks", slow}};
}

}  // namespace

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
  nlohmann::json operations = nlohmann::json::array();
  for (const OperationResult& o : r.operations) operations.push_back(OperationJson(o));
  nlohmann::json jobs = nlohmann::json::array();
  for (const JobResult& j : r.jobs) jobs.push_back(JobJson(j));
  const Counters& c = r.counters;
  nlohmann::json out = {
      {"arm", r.arm},
      {"seed", r.seed},
      {"finished", r.finished},
      {"completion_ns", SummaryJson(r.completion)},
      {"slowdown", SummaryJson(r.slowdown)},
      {"makespan_ns", r.makespan.count()},
      {"ideal_ns", r.ideal.count()},
      {"goodput_bps", r.goodput_bps},
      {"fairness", r.fairness},
      {"base_rtt_ns", r.base_rtt.count()},
      {"bdp_bytes", r.bdp.count()},
      {"events", r.events},
      {"cpu_seconds", r.cpu_seconds},
      {"digest", r.real_time.has_value() ? nlohmann::json(nullptr)
                                         : nlohmann::json(absl::StrFormat("%016x", r.digest))},
      {"real_time", r.real_time.has_value() ? RealTimeJson(*r.real_time) : nullptr},
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
      {"warnings", r.warnings},
      {"breaches", r.breaches},
      {"operations", operations},
      {"jobs", jobs},
      {"transfers", transfers}};
  AddFabric(r, out);
  for (const RuleUse& use : r.rules) {
    out["rules"].push_back({{"rule", use.rule}, {"connections", use.connections}});
  }
  if (r.samples.has_value()) out["samples"] = SamplesJson(*r.samples);
  return out;
}

nlohmann::json ToJson(const Experiment& e) {
  const FabricSpec& f = e.fabric;
  nlohmann::json arms = nlohmann::json::array();
  for (const Arm& arm : e.arms) {
    nlohmann::json rules = nlohmann::json::array();
    for (const ArmRule& rule : arm.rules) {
      rules.push_back({{"name", rule.name},
                       {"matches", RuleText(rule)},
                       {"cc", rule.binding.cc->name},
                       {"lb", rule.binding.lb->name},
                       {"paths", rule.binding.paths},
                       {"cc_params", ParamsJson(rule.binding.cc->params, rule.binding.cc_config)},
                       {"lb_params", ParamsJson(rule.binding.lb->params, rule.binding.lb_config)}});
    }
    arms.push_back({{"name", arm.name},
                    {"cc", arm.binding.cc->name},
                    {"lb", arm.binding.lb->name},
                    {"paths", arm.binding.paths},
                    {"salt", arm.salt},
                    {"rules", rules},
                    {"cc_params", ParamsJson(arm.binding.cc->params, arm.binding.cc_config)},
                    {"lb_params", ParamsJson(arm.binding.lb->params, arm.binding.lb_config)}});
  }
  nlohmann::json ports = nlohmann::json::array();
  if (e.OverPorts()) {
    for (const DeviceOptions& port : e.ports) ports.push_back(port.device);
  }
  nlohmann::json classes = nlohmann::json::array();
  for (size_t i = 0; i < f.classes.size(); ++i) {
    const TrafficClass& c = f.switches.classes[i];
    classes.push_back({{"name", f.classes[i]}, {"strict", c.strict}, {"weight", c.weight}});
  }
  nlohmann::json given = nlohmann::json::object();
  for (const GivenValue& g : e.given) given[g.key] = g.value;
  return {{"name", e.name},
          {"source", e.source},
          {"given", given},
          {"home", Name(e.home)},
          {"ports", ports},
          {"topology", f.topology.name},
          {"hosts", f.topology.hosts},
          {"queue_limit", DepthText(f.queue_limit)},
          {"buffer", DepthText(f.buffer)},
          {"mark_min", f.marking ? DepthText(f.mark_min) : "off"},
          {"mark_max", f.marking ? DepthText(f.mark_max) : "off"},
          {"mark_last_hop", LastHopText(f.mark_last_hop)},
          {"classes", classes},
          {"trimming", f.switches.trimming},
          {"pfc", f.switches.pfc},
          {"traffic", e.traffic.name},
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
                    {"p", d.difference.p},
                    {"p_adjusted", d.p_adjusted},
                    {"decides", d.decides},
                    {"shown", d.difference.shown},
                    {"small", d.small}});
  }
  nlohmann::json verdicts = nlohmann::json::array();
  for (const AbVerdict& v : ab.verdicts) {
    verdicts.push_back({{"arm", v.arm}, {"verdict", v.word}, {"text", v.text}});
  }
  return {
      {"baseline", ab.baseline},     {"seeds", ab.seeds},         {"too_busy", ab.too_busy},
      {"alpha", ab.alpha},           {"tolerance", ab.tolerance}, {"comparisons", ab.comparisons},
      {"seeds_most", ab.seeds_most}, {"verdicts", verdicts},      {"differences", rows}};
}

nlohmann::json ToJson(const League& league) {
  nlohmann::json rows = nlohmann::json::array();
  for (const LeagueRow& row : league.rows) {
    rows.push_back({{"arm", row.arm},
                    {"rank", row.rank},
                    {"runs", row.runs},
                    {"finished", row.finished},
                    {"last_ns", row.last.mean},
                    {"last_half_interval_ns", row.last.half},
                    {"slowdown", row.slowdown},
                    {"difference_ns", row.against.difference},
                    {"difference_low_ns", row.against.low},
                    {"difference_high_ns", row.against.high},
                    {"difference_shown", row.against.shown},
                    {"p99_ns", row.p99},
                    {"fairness", row.fairness},
                    {"retransmitted_packets", row.retransmissions},
                    {"queue_peak_bytes", nullptr}});
    if (row.queue_peak.has_value()) rows.back()["queue_peak_bytes"] = *row.queue_peak;
  }
  return {{"baseline", league.baseline},
          {"seeds", league.seeds},
          {"too_busy", league.too_busy},
          {"rows", rows}};
}

nlohmann::json Document(const Experiment& experiment, const std::vector<RunResult>& results,
                        const AbResult* ab, const League* league) {
  nlohmann::json runs = nlohmann::json::array();
  for (const RunResult& r : results) runs.push_back(ToJson(r));
  nlohmann::json fingerprint = ToJson(MakeFingerprint());
  fingerprint["driver"] = DriverText(experiment);
  nlohmann::json document = {{"schema", "weir.result/1"},
                             {"fingerprint", fingerprint},
                             {"experiment", ToJson(experiment)},
                             {"results", runs}};
  if (ab != nullptr) document["ab"] = ToJson(*ab);
  if (league != nullptr) document["league"] = ToJson(*league);
  return document;
}

}  // namespace weir
