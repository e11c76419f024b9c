// A device as configuration files name it.
#pragma once

#include "datapath/nic_device.h"
#include "datapath/text/table_reader.h"

namespace weir {

// Reads `name`, `address`, `gateway`, `neighbours`, `mtu`, `vlan`, `line_rate`, `offloads` and
// `arguments`; complains of what is missing.
void ReadDevice(TableReader& r, DeviceOptions& out);

}  // namespace weir
