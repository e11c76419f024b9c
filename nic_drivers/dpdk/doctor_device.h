// The doctor's look at one device, without opening it.
#pragma once

#include <vector>

#include "nic_drivers/dpdk/doctor.h"
#include "nic_drivers/dpdk/eal.h"

namespace weir {

void ExamineDevice(const DeviceName& device, std::vector<Finding>& out);

}  // namespace weir
