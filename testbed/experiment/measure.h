// Sums up what a run has left behind.
#pragma once

#include "testbed/experiment/result.h"
#include "testbed/fabric/fabric.h"

namespace weir {

// From `transfers`: completion, slowdown, fairness, makespan, goodput, and a warning if some did
// not finish.
void MeasureCompletions(RunResult& result);
// Packets, queues, pauses, and how evenly the links between switches were used.
FabricResult MeasureFabric(const Fabric& fabric);

}  // namespace weir
