// Runs one arm of an experiment on one seed, in virtual time.
#pragma once

#include <functional>

#include "testbed/experiment/experiment.h"
#include "testbed/experiment/result.h"

namespace weir {

// How far a run is: transfers finished, of all, and the virtual time since the start of traffic.
struct Progress {
  uint64_t finished = 0;
  uint64_t transfers = 0;
  Duration elapsed{};
};

RunResult RunArm(const Experiment& experiment, const Arm& arm, uint64_t seed,
                 const std::function<void(const Progress&)>& progress = nullptr);

}  // namespace weir
