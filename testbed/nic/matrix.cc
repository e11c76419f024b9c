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

// Adds the names of `items` that are not there yet.
void AddNames(const json& items, std::vector<std::string>& names) {
  for (const json& item : items) {
    const std::string name = item["name"].get<std::string>();
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
}

// The item with that name, or nullptr.
const json* Find(const json& items, const std::string& name) {
  for (const json& item : items) {
    if (item["name"] == name) return &item;
  }
  return nullptr;
}

// A row for each driver, and each of its devices that takes another MTU.
std::string Abilities(const std::vector<json>& reports) {
  std::vector<std::string> names;
  for (const json& report : reports) {
    for (const json& device : report["devices"]) AddNames(device["abilities"], names);
  }
  std::vector<std::string> head = {"driver", "queue pairs", "MTU"};
  head.insert(head.end(), names.begin(), names.end());
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
        const json* ability = Find(device["abilities"], name);
        cells.push_back(ability != nullptr && (*ability)["offered"].get<bool>() ? "yes" : "-");
      }
      text += Row(cells);
    }
  }
  return text;
}

std::string Checks(const std::vector<json>& reports) {
  std::vector<std::string> names;
  for (const json& report : reports) AddNames(report["checks"], names);
  std::vector<std::string> head = {"pair"};
  head.insert(head.end(), names.begin(), names.end());
  std::string text = Row(head) + Rule(head.size());
  std::map<std::string, size_t> numbers;  // of reasons
  std::vector<std::string> reasons;
  for (const json& report : reports) {
    std::vector<std::string> cells = {Label(report)};
    for (const std::string& name : names) {
      const json* check = Find(report["checks"], name);
      const std::string result = check == nullptr ? "" : (*check)["result"].get<std::string>();
      if (check == nullptr || result == "passed") {
        cells.push_back(result);
        continue;
      }
      const std::string why = (*check)["text"].get<std::string>();
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
