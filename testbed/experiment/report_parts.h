// Words that tables and JSON of an experiment share.
#pragma once

#include <string>

#include "testbed/experiment/experiment.h"

namespace weir {

std::string DepthText(const Depth& depth);
const char* LastHopText(FabricSpec::LastHop last_hop);
const char* Name(HomeKind home);
// "dpdk:0000:00:03.0, dpdk:0000:00:04.0".
std::string PortsText(const Experiment& experiment);
// "loopback, in real time; time scale 0.01".
std::string HomeText(const Experiment& experiment);

}  // namespace weir
