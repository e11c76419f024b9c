// What `weir nic check` found, for people (Markdown) and programs (JSON).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "datapath/nic_device.h"
#include "testbed/nic/this_host.h"

namespace weir {

enum class CheckResult { kPassed, kFailed, kSkipped };
const char* Name(CheckResult result);  // "passed"

struct CheckOutcome {
  std::string name;  // "frames", a column of the matrix
  CheckResult result = CheckResult::kPassed;
  std::string text;  // failed: what is wrong and what to do; skipped: why
  std::vector<std::pair<std::string, std::string>> figures{};
};

struct CheckedDevice {
  std::string name;  // as the user names it
  HostFacts host{};  // that it is a device of
  std::string mac{};
  uint32_t mtu = 0;
  DeviceFacts facts{};
  std::vector<std::string> features{};
  std::vector<std::string> warnings{};
};

struct CheckReport {
  std::string label;  // of the pair
  std::vector<CheckedDevice> devices{};
  std::vector<CheckOutcome> outcomes{};

  size_t Count(CheckResult result) const;
};

std::string CheckMarkdown(const CheckReport& report);
// Schema "weir.nic_check/1".
nlohmann::json CheckJson(const CheckReport& report);

}  // namespace weir
