#include "testbed/nic/probe.h"

#include "absl/strings/str_format.h"
#include "cc_algos/registry.h"
#include "datapath/signal_names.h"
#include "datapath/text/quantity_text.h"
#include "lb_policies/registry.h"
#include "nic_drivers/address_text.h"
#include "testbed/experiment/report_text.h"

namespace weir {
namespace {

using nlohmann::json;

// What switches write, cut or say; a port carries it as it is.
constexpr Signals kOfNetwork =
    Signal::kTelemetry | Signal::kTrimNotice | Signals(Signal::kPathLoad);

const char* Word(PluginFit::State state) {
  switch (state) {
    case PluginFit::State::kRuns:
      return "runs";
    case PluginFit::State::kNeedsNetwork:
      return "needs the network";
    case PluginFit::State::kCannot:
      return "cannot run";
  }
  return "?";
}

PluginFit FitOf(const char* kind, const char* name, Signals needs, Signals there) {
  PluginFit fit{.kind = kind, .name = name};
  const Signals missing = needs.Without(there);
  if (missing.empty()) return fit;
  const Signals of_port = missing.Without(kOfNetwork);
  fit.state = of_port.empty() ? PluginFit::State::kNeedsNetwork : PluginFit::State::kCannot;
  fit.missing = SignalNames(of_port.empty() ? missing : of_port);
  return fit;
}

std::string WhyNot(const PluginFit& fit) {
  switch (fit.state) {
    case PluginFit::State::kRuns:
      return fit.remark;
    case PluginFit::State::kNeedsNetwork:
      return "switches that give " + fit.missing + (fit.remark.empty() ? "" : "; " + fit.remark);
    case PluginFit::State::kCannot:
      return "this port has no " + fit.missing;
  }
  return "";
}

}  // namespace

std::vector<PluginFit> PluginsOver(Signals signals) {
  std::vector<PluginFit> fits;
  for (const CcEntry& e : AllCc()) {
    fits.push_back(FitOf("cc", e.name, e.needs, signals));
    if (e.one_path_because == nullptr) continue;
    fits.back().remark = absl::StrFormat("not over policies that spray: %s", e.one_path_because);
  }
  for (const LbEntry& e : AllLb()) fits.push_back(FitOf("lb", e.name, e.needs, signals));
  return fits;
}

ProbeReport Probe(const NicDevice& device, const std::string& name) {
  return {.device = name,
          .mac = MacText(device.address().mac),
          .caps = device.caps(),
          .link_up = device.link_up(),
          .facts = device.facts(),
          .features = device.features(),
          .warnings = device.warnings(),
          .plugins = PluginsOver(device.caps().signals)};
}

std::string ProbeText(const ProbeReport& r) {
  const DeviceFacts& f = r.facts;
  std::vector<TextRow> rows = {
      {"device", r.device},
      {"driver", f.driver + " of " + f.library},
      {"firmware", f.firmware.empty() ? "it does not say" : f.firmware},
      {"MAC address", r.mac},
      {"link", r.link_up ? "up" : "down"},
      {"line rate", Format(r.caps.line_rate)},
      {"MTU", absl::StrFormat("%d bytes, at most %d", r.caps.mtu, f.mtu_max)},
      {"queue pairs", absl::StrFormat("at most %d", f.queues_max)},
      {"NUMA node", f.numa_node < 0 ? "none" : std::to_string(f.numa_node)},
      {"signals", SignalNames(r.caps.signals)},
  };
  std::string text = AlignRows(rows, Alignment::kLeft) + "\n";
  rows = {{"ability", "offered", "used", "where it is not used"}};
  for (const DeviceAbility& a : f.abilities) {
    rows.push_back({a.name, a.offered ? "yes" : "no", a.used ? "yes" : "no", a.without});
  }
  text += AlignRows(rows, Alignment::kLeft) + "\n";
  for (const std::string& feature : r.features) text += "in use: " + feature + "\n";
  for (const std::string& warning : r.warnings) text += "warning: " + warning + "\n";
  rows = {{"kind", "name", "over this port", "why"}};
  for (const PluginFit& p : r.plugins) rows.push_back({p.kind, p.name, Word(p.state), WhyNot(p)});
  return text + "\n" + AlignRows(rows, Alignment::kLeft);
}

json FactsJson(const DeviceFacts& f) {
  json abilities = json::array();
  for (const DeviceAbility& a : f.abilities) {
    abilities.push_back(
        {{"name", a.name}, {"offered", a.offered}, {"used", a.used}, {"without", a.without}});
  }
  return {{"driver", f.driver},         {"library", f.library},       {"firmware", f.firmware},
          {"queues_max", f.queues_max}, {"mtu_max_bytes", f.mtu_max}, {"numa_node", f.numa_node},
          {"abilities", abilities}};
}

json ProbeJson(const ProbeReport& r) {
  json out = FactsJson(r.facts);
  json plugins = json::array();
  for (const PluginFit& p : r.plugins) {
    plugins.push_back({{"kind", p.kind},
                       {"name", p.name},
                       {"state", Word(p.state)},
                       {"missing", p.missing},
                       {"why", WhyNot(p)}});
  }
  out.update({{"schema", "weir.nic_probe/1"},
              {"version", WEIR_VERSION},
              {"device", r.device},
              {"mac", r.mac},
              {"link_up", r.link_up},
              {"line_rate_bps", r.caps.line_rate.count()},
              {"mtu_bytes", r.caps.mtu},
              {"signals", SignalNames(r.caps.signals)},
              {"features", r.features},
              {"warnings", r.warnings},
              {"plugins", plugins}});
  return out;
}

}  // namespace weir
