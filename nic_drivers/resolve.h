// Waiting for the way to a peer.
#pragma once

#include <chrono>

#include "absl/status/status.h"
#include "datapath/nic_device.h"

namespace weir {

// NicDevice::Resolve, asked again while the next hop does not answer, for `limit` at most. Another
// thread polls the device, or nothing is heard.
absl::Status ResolveWithin(NicDevice& device, NetAddress& remote, std::chrono::nanoseconds limit);

}  // namespace weir
