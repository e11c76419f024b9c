// All drivers that are built in, and how a device is named.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "datapath/nic_device.h"
#include "nic_drivers/chunk_device.h"

namespace weir {

// A kind of device: its line in registry.cc.
struct DriverEntry {
  const char* name;     // "dpdk": its devices are "dpdk:..."
  const char* summary;  // one line, with the form of a device's name
  absl::StatusOr<std::unique_ptr<NicDevice>> (*open)(const DeviceOptions& options);
  // Names of this host's devices, as for OpenDevice; nullptr: they cannot be listed.
  std::vector<std::string> (*list)() = nullptr;
  bool has_address = false;  // its devices have addresses: DeviceOptions::address may be empty
  // In RDMA mode; nullptr: devices of this kind have none.
  absl::StatusOr<std::unique_ptr<ChunkDevice>> (*open_chunks)(const DeviceOptions& options) =
      nullptr;
};
// By the "driver:" of a device's name; nullptr: none that is built in.
const DriverEntry* FindDriver(const std::string& device);
// In the order of the registry; empty when built without any.
std::span<const DriverEntry* const> AllDrivers();

// Opens options.device, "driver:name". Errors say which drivers there are.
absl::StatusOr<std::unique_ptr<NicDevice>> OpenDevice(const DeviceOptions& options);

}  // namespace weir
