// Results of `weir perf` as perftest prints them, and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testbed/perf/client.h"

namespace weir {

// Title lines and one row a result; bandwidth in MB/s (2^20 bytes), or Gb/s with `gbits`.
std::string PerfHeading(const PerfPlan& plan, bool gbits);
std::string PerfRow(const PerfResult& result, bool gbits);
// What was active, and what it took: below the table.
std::string PerfNotes(const PerfResult& result);
// docs/results.md has the schema.
nlohmann::json PerfJson(const std::vector<PerfResult>& results, const Context& context);

}  // namespace weir
