// How often each transfer of an experiment runs, from its triggers alone.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "testbed/traffic/traffic.h"

namespace weir {

// The transfers that wait for each trigger.
std::vector<std::vector<uint32_t>> WaitingFor(const Traffic& traffic);

// Counts one more firing of trigger `t` and says whether it starts what waits for it.
// `fired` has an entry for each trigger.
bool Fire(const Traffic& traffic, uint32_t t, std::vector<uint32_t>& fired);

// By transfer; 0 if its trigger never starts it. Nothing if triggers that repeat go on for ever.
std::optional<std::vector<uint32_t>> CountRuns(const Traffic& traffic);

}  // namespace weir
