// A PCI device that is taken out and put back by software, through sysfs.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace weir {

class PciSlot {
 public:
  // `device` as Weir names it, "dpdk:0000:3b:00.0". Fails unless it is a PCI device under vfio-pci,
  // which asks its user to give it back.
  static absl::StatusOr<PciSlot> Of(const std::string& device);

  // Waits until the user of the device has closed it.
  absl::Status Remove() const;
  // Found again by the kernel, and given to vfio-pci.
  absl::Status Return() const;

 private:
  explicit PciSlot(std::string address) : address_(std::move(address)) {}

  std::string address_;  // "0000:3b:00.0"
};

}  // namespace weir
