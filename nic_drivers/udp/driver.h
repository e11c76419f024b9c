// The udp driver's line in the registry.
#pragma once

#include "nic_drivers/registry.h"

namespace weir {

extern const DriverEntry kUdpDriver;

}  // namespace weir
