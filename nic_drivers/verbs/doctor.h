// Is this host fit for RDMA devices? Nothing is changed.
#pragma once

#include <string>
#include <vector>

#include "nic_drivers/finding.h"

namespace weir {

// `device` as for OpenDevice: what keeps it from being opened is a failure; empty: the host alone,
// and what is missing is a warning, since other drivers do without.
std::vector<Finding> ExamineRdma(const std::string& device);

}  // namespace weir
