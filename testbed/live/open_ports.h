// Opens the devices of an experiment's hosts.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "datapath/nic_device.h"

namespace weir {

// The last one first, since some devices are clients of others. "ring", twice, is two devices that
// rings join.
absl::StatusOr<std::vector<std::unique_ptr<NicDevice>>> OpenDevices(
    std::span<const DeviceOptions> options);

// Whether a device of `rate` carries `asked` on a clock that runs `time_scale` times as fast as the
// machine's; else which time scale would do.
absl::Status CheckRate(const std::string& device, Rate rate, Rate asked, double time_scale);

// What a run asks of the device of one host.
struct PortDemand {
  uint32_t mtu = 0;  // largest IP packet, bytes
  bool v6 = false;   // the IP version that its headers are counted for
  Rate rate{};       // on the experiment's clock
  double time_scale = 1;
};
// One device each, with its link up. Fails if one is too slow, takes only smaller packets, has an
// address of the other IP version, or has had no link for ten seconds.
absl::StatusOr<std::vector<std::unique_ptr<NicDevice>>> OpenPorts(
    std::span<const DeviceOptions> options, std::span<const PortDemand> demands);

}  // namespace weir
