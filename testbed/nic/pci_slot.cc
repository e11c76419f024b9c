#include "testbed/nic/pci_slot.h"

#include <filesystem>
#include <fstream>

#include "absl/strings/str_format.h"

namespace weir {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPci = "/sys/bus/pci";
constexpr const char* kDriver = "vfio-pci";

absl::Status Write(const std::string& path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  if (out.flush()) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrFormat("%s cannot be written; removing a PCI device needs root", path));
}

std::string PathOf(const std::string& address) {
  return absl::StrFormat("%s/devices/%s", kPci, address);
}

}  // namespace

absl::StatusOr<PciSlot> PciSlot::Of(const std::string& device) {
  const size_t colon = device.find(':');
  const std::string name = device.substr(colon + 1, device.find(',') - colon - 1);
  std::error_code error;
  if (!fs::exists(PathOf(name), error)) {
    return absl::UnimplementedError(device + " is no PCI device");
  }
  if (fs::read_symlink(PathOf(name) + "/driver", error).filename() != kDriver) {
    return absl::UnimplementedError(absl::StrFormat("%s is not under %s", device, kDriver));
  }
  return PciSlot(name);
}

absl::Status PciSlot::Remove() const { return Write(PathOf(address_) + "/remove", "1"); }

absl::Status PciSlot::Return() const {
  absl::Status status = Write(absl::StrFormat("%s/rescan", kPci), "1");
  status.Update(Write(PathOf(address_) + "/driver_override", kDriver));
  if (!status.ok()) return status;
  // A driver of the kernel may have been first.
  if (fs::exists(PathOf(address_) + "/driver")) {
    status.Update(Write(PathOf(address_) + "/driver/unbind", address_));
  }
  status.Update(Write(absl::StrFormat("%s/drivers_probe", kPci), address_));
  return status;
}

}  // namespace weir
