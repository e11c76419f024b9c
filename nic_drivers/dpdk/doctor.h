// Is this host fit for DPDK devices? Nothing is opened and nothing changed.
#pragma once

#include <string>
#include <vector>

#include "nic_drivers/finding.h"

namespace weir {

// `device` as for OpenDevice; empty: the host alone. What only slows things down is a warning, what
// keeps the device from being opened is a failure.
std::vector<Finding> ExamineHost(const std::string& device);

}  // namespace weir
