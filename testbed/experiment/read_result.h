// Results that were stored as JSON, read back.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "testbed/experiment/result.h"

namespace weir {

// One run, with everything that comparisons and tables use. Errors name what is missing.
absl::StatusOr<RunResult> ReadRun(const nlohmann::json& json);

// A document of `weir run`, `weir ab` or `weir merge`.
struct StoredResult {
  std::string file{};
  nlohmann::json fingerprint{};
  nlohmann::json experiment{};  // effective configuration; null in a sweep
  std::vector<RunResult> runs{};
  std::vector<std::string> points{};  // of each run in a sweep, in words; else empty texts
};
absl::StatusOr<StoredResult> ReadResult(const std::string& path);

}  // namespace weir
