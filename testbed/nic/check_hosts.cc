// How the two sides of a check come about: both in this process, or one in another.
#include <array>
#include <utility>

#include "testbed/live/open_ports.h"
#include "testbed/nic/check.h"
#include "testbed/nic/local_host.h"
#include "testbed/nic/remote_host.h"

namespace weir {
namespace {

absl::Status OpenAt(LocalHost& host, const DeviceOpener& open, const DeviceOptions& options) {
  absl::StatusOr<std::unique_ptr<NicDevice>> device = open(options);
  if (device.ok()) host.Take(*std::move(device));
  return device.status();
}

}  // namespace

absl::StatusOr<DevicePair> OpenPair(const DeviceOptions& a, const DeviceOptions& b) {
  auto devices = OpenDevices(std::array{a, b});
  if (!devices.ok()) return devices.status();
  return DevicePair{std::move((*devices)[0]), std::move((*devices)[1])};
}

CheckHosts HostsHere(const PairOpener& open, const DeviceOpener& open_a) {
  auto a = std::make_unique<LocalHost>();
  auto b = std::make_unique<LocalHost>();
  CheckHosts hosts;
  hosts.open = [&a = *a, &b = *b, open](const DeviceOptions& first, const DeviceOptions& second) {
    absl::StatusOr<DevicePair> pair = open(first, second);
    if (!pair.ok()) return pair.status();
    a.Take(std::move(pair->a));
    b.Take(std::move(pair->b));
    return absl::OkStatus();
  };
  if (open_a) {
    hosts.open_a = [&a = *a, open_a](const DeviceOptions& options) {
      return OpenAt(a, open_a, options);
    };
  }
  hosts.a = std::move(a);
  hosts.b = std::move(b);
  return hosts;
}

CheckHosts HostsWith(std::unique_ptr<RemoteHost> b, const DeviceOpener& open_a) {
  auto a = std::make_unique<LocalHost>();
  CheckHosts hosts;
  hosts.open_a = [&a = *a, open_a](const DeviceOptions& options) {
    return OpenAt(a, open_a, options);
  };
  hosts.open = [&a = *a, &b = *b, open_a](const DeviceOptions& first, const DeviceOptions& second) {
    absl::Status status = b.Open(second);
    if (status.ok()) status = OpenAt(a, open_a, first);
    return status;
  };
  hosts.a = std::move(a);
  hosts.b = std::move(b);
  return hosts;
}

}  // namespace weir
