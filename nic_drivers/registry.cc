#include "nic_drivers/registry.h"

#include "absl/strings/str_format.h"
#ifdef WEIR_HAS_DPDK
#include "nic_drivers/dpdk/driver.h"
#endif
#ifdef WEIR_HAS_VERBS
#include "nic_drivers/verbs/driver.h"
#endif
#ifdef WEIR_HAS_UDP
#include "nic_drivers/udp/driver.h"
#endif

namespace weir {
namespace {

constexpr const DriverEntry* kAll[] = {
#ifdef WEIR_HAS_DPDK
    &kDpdkDriver,
#endif
#ifdef WEIR_HAS_VERBS
    &kVerbsDriver,
#endif
#ifdef WEIR_HAS_UDP
    &kUdpDriver,
#endif
    nullptr,  // so that there is an array in any case
};

absl::Status NoSuchDriver(const std::string& device) {
  std::string known;
  for (const DriverEntry* driver : AllDrivers()) {
    known += absl::StrFormat("\n  %s: %s", driver->name, driver->summary);
  }
  if (known.empty()) {
    return absl::UnimplementedError(
        "this build of Weir has no NIC driver (WEIR_NICS=OFF); build with another preset, or run "
        "in "
        "virtual time");
  }
  return absl::NotFoundError(absl::StrFormat(
      "device \"%s\" names no driver that is built in; there are:%s", device, known));
}

}  // namespace

std::span<const DriverEntry* const> AllDrivers() {
  return std::span(kAll).first(std::size(kAll) - 1);
}

const DriverEntry* FindDriver(const std::string& device) {
  const std::string kind = device.substr(0, device.find(':'));
  for (const DriverEntry* driver : AllDrivers()) {
    if (kind == driver->name) return driver;
  }
  return nullptr;
}

absl::StatusOr<std::unique_ptr<NicDevice>> OpenDevice(const DeviceOptions& options) {
  if (const DriverEntry* driver = FindDriver(options.device)) return driver->open(options);
  return NoSuchDriver(options.device);
}

absl::StatusOr<std::unique_ptr<ChunkDevice>> OpenChunkDevice(const DeviceOptions& options) {
  const DriverEntry* driver = FindDriver(options.device);
  if (driver == nullptr) return NoSuchDriver(options.device);
  if (driver->open_chunks != nullptr) return driver->open_chunks(options);
  return absl::UnimplementedError(absl::StrFormat(
      "%s: devices of the driver \"%s\" have no RDMA mode; it needs an RDMA device (verbs:NAME)",
      options.device, driver->name));
}

}  // namespace weir
