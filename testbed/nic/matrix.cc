#include "testbed/nic/matrix.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_format.h"

namespace weir {
namespace {

using nlohmann::json;

std::string Row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += " " + cell + " |";
  return row + "\n";
}
std::string Rule(size_t columns) {
  std::string row = "|";
  for (size_t i = 0; i < columns; ++i) row += "---|";
  return row + "\n";
}

std::string Label(const json& report) { return report["label"].get<std::string>(); }

// A row for each driver, and each of its devices that takes another MTU.
std::string Abilities(const std::vector<json>& reports) {
  std::vector<std::string> names;
  std::vector<std::string> head = {"driver", "queue pairs", "MTU"};
  for (const json& a : reports.front()["devices"][0]["abilities"]) {
    names.push_back(a["name"].get<std::string>());
    head.push_back(names.back());
  }
  std::string text = Row(head) + Rule(head.size());
  std::vector<std::string> seen;
  for (const json& report : reports) {
    for (const json& device : report["devices"]) {
      const std::string driver = device["driver"].get<std::string>();
      const std::string key = driver + device["mtu_max_bytes"].dump();
      if (std::find(seen.begin(), seen.end(), key) != seen.end()) continue;
      seen.push_back(key);
      std::vector<std::string> cells = {driver, device["queues_max"].dump(),
                                        device["mtu_max_bytes"].dump()};
      for (const std::string& name : names) {
        for (const json& a : device["abilities"]) {
          if (a["name"] == name) cells.push_back(a["offered"].get<bool>() ? "yes" : "-");
        }
      }
      text += Row(cells);
    }
  }
  return text;
}

std::string Checks(const std::vector<json>& reports) {
  std::vector<std::string> head = {"pair"};
  for (const json& c : reports.front()["checks"]) head.push_back(c["name"].get<std::string>());
  std::string text = Row(head) + Rule(head.size());
  std::map<std::string, size_t> numbers;  // of reasons
  std::vector<std::string> reasons;
  for (const json& report : reports) {
    std::vector<std::string> cells = {Label(report)};
    for (const json& check : report["checks"]) {
      const std::string result = check["result"].get<std::string>();
      if (result == "passed") {
        cells.push_back("passed");
        continue;
      }
      const std::string why = check["text"].get<std::string>();
      const auto [at, is_new] = numbers.emplace(why, numbers.size() + 1);
      if (is_new) reasons.push_back(why);
      cells.push_back(absl::StrFormat("%s %d", result == "failed" ? "FAILED" : "-", at->second));
    }
    text += Row(cells);
  }
  if (!reasons.empty()) text += "\n";
  for (size_t i = 0; i < reasons.size(); ++i) {
    text += absl::StrFormat("%d. %s\n", i + 1, reasons[i]);
  }
  return text;
}

}  // namespace

absl::StatusOr<std::string> MatrixMarkdown(const std::vector<json>& reports) {
  if (reports.empty()) return absl::InvalidArgumentError("no report was given");
  for (const json& report : reports) {
    if (report.value("schema", "") != "weir.nic_check/1") {
      return absl::InvalidArgumentError(
          "a file is no report of `weir nic check --json`: its schema is not weir.nic_check/1");
    }
  }
  try {
    return Abilities(reports) + "\n" + Checks(reports);
  } catch (const json::exception& error) {
    return absl::InvalidArgumentError(std::string("a report is incomplete: ") + error.what());
  }
}

}  // namespace weir
