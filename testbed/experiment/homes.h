// Which homes there are, and how a run gets its own.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "testbed/experiment/home.h"
#include "testbed/experiment/run_plan.h"

namespace weir {

// Whether the loopback testbed is built in.
bool HasLoopback();

absl::StatusOr<std::unique_ptr<Home>> MakeHome(const RunPlan& plan);

}  // namespace weir
