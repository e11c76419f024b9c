// A time line in the Chrome trace format, which Perfetto and chrome://tracing open, alone or beside
// the trace of a framework's profiler.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "testbed/experiment/result.h"

namespace weir {

// A process a host (of each run), a thread a connection, a slice a transfer, in microseconds since
// the start of traffic. Transfers of one connection that overlap are threads beside each other, so
// that slices of a thread nest. Collectives have a process of
// their own. Runs: the first seed of every arm. Unfinished transfers are left
// out.
nlohmann::json ChromeTrace(const std::vector<RunResult>& results);

}  // namespace weir
