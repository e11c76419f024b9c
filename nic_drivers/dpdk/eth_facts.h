// What a device of DPDK can do, whether it is used or not.
#pragma once

#include "datapath/nic_device.h"
#include "nic_drivers/dpdk/eth_setup.h"

namespace weir {

// `rules`: flow rules are installed.
DeviceFacts EthFacts(const EthSetup& setup, const DeviceOptions& options, bool rules);

}  // namespace weir
