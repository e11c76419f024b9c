// DPDK's environment: started once a process, with no device; each device is attached when it is
// opened and detached when it is closed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "datapath/nic_device.h"

namespace weir {

// A device as the user names it, after "dpdk:": "0000:3b:00.0,args" or "net_memif0,args".
struct DeviceName {
  std::string name;       // "0000:3b:00.0", "net_memif0"
  std::string arguments;  // behind the first comma
  bool pci = false;
};
absl::StatusOr<DeviceName> ParseDeviceName(const std::string& device);
// The value of `key` in "a=1,b=2"; empty: it is not there.
std::string ArgumentOf(const std::string& arguments, const std::string& key);

// The first call decides: later `arguments` are an error if they differ.
absl::Status StartEal(const DeviceName& device, const std::vector<std::string>& arguments);
bool EalRuns();
// Of the start: no huge pages, for one.
const std::vector<std::string>& EalWarnings();
// "memory: huge pages", "memory: ordinary pages, 1024 MB".
const std::string& EalMemory();

// The number of the Ethernet device.
absl::StatusOr<uint16_t> AttachDevice(const DeviceName& device);
// Stopped and closed before.
void DetachDevice(const DeviceName& device);

}  // namespace weir
