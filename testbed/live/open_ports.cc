#include "testbed/live/open_ports.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "absl/strings/str_format.h"
#include "datapath/text/quantity_text.h"
#include "nic_drivers/registry.h"

#ifdef WEIR_HAS_DPDK
#include "nic_drivers/dpdk/ring_pair.h"
#endif

namespace weir {
namespace {

using Devices = std::vector<std::unique_ptr<NicDevice>>;

constexpr const char* kRing = "ring";
constexpr auto kLinkMax = std::chrono::seconds(10);
constexpr auto kLinkPause = std::chrono::milliseconds(10);

bool IsRing(const DeviceOptions& options) { return options.device == kRing; }

absl::StatusOr<Devices> OpenRings(std::span<const DeviceOptions> options) {
  if (options.size() != 2 || !std::ranges::all_of(options, IsRing)) {
    return absl::InvalidArgumentError("a ring has two ends: name it twice, and no other device");
  }
#ifdef WEIR_HAS_DPDK
  auto pair = OpenRingPair(options[0], options[1]);
  if (!pair.ok()) return pair.status();
  Devices devices;
  devices.push_back(std::move(pair->first));
  devices.push_back(std::move(pair->second));
  return devices;
#else
  return OpenDevice(options[0]).status();  // says what this build has
#endif
}

absl::Status WaitForLink(NicDevice& device, const std::string& name) {
  const auto deadline = std::chrono::steady_clock::now() + kLinkMax;
  while (!device.link_up()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return absl::UnavailableError(
          absl::StrFormat("%s: the link is down; look at the cable and at the other end", name));
    }
    std::this_thread::sleep_for(kLinkPause);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Devices> OpenDevices(std::span<const DeviceOptions> options) {
  if (std::ranges::any_of(options, IsRing)) return OpenRings(options);
  Devices devices(options.size());
  for (size_t i = options.size(); i-- > 0;) {
    absl::StatusOr<std::unique_ptr<NicDevice>> device = OpenDevice(options[i]);
    if (!device.ok()) return device.status();
    devices[i] = *std::move(device);
  }
  return devices;
}

absl::Status CheckRate(const std::string& device, Rate rate, Rate asked, double time_scale) {
  const Rate most(static_cast<int64_t>(static_cast<double>(rate.count()) / time_scale));
  if (most >= asked) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "%s carries %s of the %s that this run's clock asks for; set a lower fabric.rate, or "
      "run.time_scale=%.2g",
      device, Format(most), Format(asked), time_scale * Ratio(most, asked)));
}

absl::StatusOr<Devices> OpenPorts(std::span<const DeviceOptions> options,
                                  std::span<const PortDemand> demands) {
  std::vector<DeviceOptions> asked(options.begin(), options.end());
  for (size_t i = 0; i < asked.size(); ++i) asked[i].time_scale = demands[i].time_scale;
  absl::StatusOr<Devices> devices = OpenDevices(asked);
  if (!devices.ok()) return devices;
  for (size_t i = 0; i < asked.size(); ++i) {
    NicDevice& device = *(*devices)[i];
    const std::string& name = asked[i].device;
    const PortDemand& demand = demands[i];
    if (device.caps().mtu < demand.mtu) {
      return absl::FailedPreconditionError(
          absl::StrFormat("%s carries IP packets of %d bytes, and this run has %d; set a smaller "
                          "transport.payload, or a larger mtu in [[ports]]",
                          name, device.caps().mtu, demand.mtu));
    }
    if (device.address().v6 != demand.v6) {
      return absl::FailedPreconditionError(
          absl::StrFormat("%s has an address of IPv%d; set transport.ip=v%d, or give it another",
                          name, device.address().v6 ? 6 : 4, device.address().v6 ? 6 : 4));
    }
    absl::Status status = CheckRate(name, device.caps().line_rate, demand.rate, demand.time_scale);
    if (status.ok()) status = WaitForLink(device, name);
    if (!status.ok()) return status;
  }
  return devices;
}

}  // namespace weir
