// The verbs driver's line in the registry.
#pragma once

#include "datapath/api/signals.h"
#include "nic_drivers/registry.h"

namespace weir {

// What such a device's port supplies. Marks, records and cut packets are in headers that the device
// keeps to itself, and so nobody sends CNPs either.
inline constexpr Signals kVerbsSignals = Signal::kRtt | Signal::kCredit;

extern const DriverEntry kVerbsDriver;

}  // namespace weir
