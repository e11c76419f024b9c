// Reports of `weir nic check` side by side: what each pair of ports can do, and what was seen to
// work.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace weir {

// Two tables in Markdown and the reasons below them. Fails if a document is no report.
absl::StatusOr<std::string> MatrixMarkdown(const std::vector<nlohmann::json>& reports);

}  // namespace weir
