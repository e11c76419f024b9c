// Opens the devices of an experiment's hosts.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "datapath/nic_device.h"

namespace weir {

// The last one first, since some devices are clients of others. "ring", twice, is two devices that
// rings join.
absl::StatusOr<std::vector<std::unique_ptr<NicDevice>>> OpenDevices(
    std::span<const DeviceOptions> options);

// What a run asks of the device of one host.
struct PortDemand {
  uint32_t mtu = 0;  // largest IP packet, bytes
  Rate rate{};       // on the experiment's clock
  double time_scale = 1;
};
// One device each, with its link up. Fails if one is too slow, takes only smaller packets, or has
// had no link for ten seconds.
absl::StatusOr<std::vector<std::unique_ptr<NicDevice>>> OpenPorts(
    std::span<const DeviceOptions> options, std::span<const PortDemand> demands);

}  // namespace weir
