#include "testbed/nic/check_report.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "testbed/nic/probe.h"

namespace weir {
namespace {

using nlohmann::json;

std::string Figures(const CheckOutcome& outcome) {
  std::string text;
  for (const auto& [name, value] : outcome.figures) {
    text += absl::StrFormat("%s%s %s", text.empty() ? "" : ", ", name, value);
  }
  return text;
}

std::string DeviceLines(const char* which, const CheckedDevice& d) {
  std::string text =
      absl::StrFormat("- %s: `%s`, %s, MAC %s, MTU %d of at most %d, %d queue pairs", which, d.name,
                      d.facts.driver, d.mac, d.mtu, d.facts.mtu_max, d.facts.queues_max);
  if (!d.facts.firmware.empty()) text += ", firmware " + d.facts.firmware;
  text += absl::StrFormat("\n  - host: %s; Weir %s, %s\n", d.host.system, d.host.version,
                          d.facts.library);
  for (const std::string& feature : d.features) text += "  - " + feature + "\n";
  for (const std::string& warning : d.warnings) text += "  - warning: " + warning + "\n";
  return text;
}

}  // namespace

const char* Name(CheckResult result) {
  switch (result) {
    case CheckResult::kPassed:
      return "passed";
    case CheckResult::kFailed:
      return "failed";
    case CheckResult::kSkipped:
      return "skipped";
  }
  return "?";
}

size_t CheckReport::Count(CheckResult result) const {
  return static_cast<size_t>(std::count_if(outcomes.begin(), outcomes.end(),
                                           [result](const auto& o) { return o.result == result; }));
}

std::string CheckMarkdown(const CheckReport& r) {
  std::string text = absl::StrFormat("# weir nic check: %s\n\n", r.label);
  text += absl::StrFormat("%d passed, %d failed, %d skipped\n\n", r.Count(CheckResult::kPassed),
                          r.Count(CheckResult::kFailed), r.Count(CheckResult::kSkipped));
  for (size_t i = 0; i < r.devices.size(); ++i) {
    text += DeviceLines(i == 0 ? "A" : "B", r.devices[i]);
  }
  text += "\n| check | result | what was seen |\n|---|---|---|\n";
  for (const CheckOutcome& o : r.outcomes) {
    const std::string figures = Figures(o);
    text += absl::StrFormat("| %s | %s | %s%s%s |\n", o.name, Name(o.result), o.text,
                            o.text.empty() || figures.empty() ? "" : "; ", figures);
  }
  return text;
}

json CheckJson(const CheckReport& r) {
  json out = {{"schema", "weir.nic_check/1"},
              {"version", WEIR_VERSION},
              {"label", r.label},
              {"passed", r.Count(CheckResult::kPassed)},
              {"failed", r.Count(CheckResult::kFailed)},
              {"skipped", r.Count(CheckResult::kSkipped)},
              {"devices", json::array()},
              {"checks", json::array()}};
  for (const CheckedDevice& d : r.devices) {
    json device = FactsJson(d.facts);
    device.update({{"name", d.name},
                   {"host", d.host.system},
                   {"version", d.host.version},
                   {"mac", d.mac},
                   {"mtu_bytes", d.mtu},
                   {"features", d.features},
                   {"warnings", d.warnings}});
    out["devices"].push_back(std::move(device));
  }
  for (const CheckOutcome& o : r.outcomes) {
    json figures = json::object();
    for (const auto& [name, value] : o.figures) figures[name] = value;
    out["checks"].push_back(
        {{"name", o.name}, {"result", Name(o.result)}, {"text", o.text}, {"figures", figures}});
  }
  return out;
}

}  // namespace weir
