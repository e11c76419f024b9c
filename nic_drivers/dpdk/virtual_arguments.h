// What DPDK's virtual devices must be told in their names so that they suit the options.
#pragma once

#include "datapath/nic_device.h"
#include "nic_drivers/dpdk/eal.h"

namespace weir {

// Adds arguments for queues and long frames where the user gave none.
void AddVirtualArguments(const DeviceOptions& options, DeviceName& device);
// What AF_PACKET takes for a frame of the longest packet; it wants buffers of that size, too.
uint32_t AfPacketSlot(uint32_t mtu);

}  // namespace weir
