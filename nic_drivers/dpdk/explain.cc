#include "nic_drivers/dpdk/explain.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "nic_drivers/dpdk/host_facts.h"

namespace weir {
namespace {

bool Says(const std::string& log, const char* words) {
  return log.find(words) != std::string::npos;
}

// DPDK's own words, for what is not known here: the last lines are nearest to the cause.
std::string LastLines(const std::string& log) {
  std::string out;
  std::vector<std::string> lines = absl::StrSplit(log, '\n', absl::SkipEmpty());
  const size_t from = lines.size() > 3 ? lines.size() - 3 : 0;
  for (size_t i = from; i < lines.size(); ++i) out += (out.empty() ? "" : "; ") + lines[i];
  return out.empty() ? "it gives no reason" : out;
}

std::string ErrorText(int error) { return std::strerror(error < 0 ? -error : error); }

absl::Status CheckPci(const DeviceName& device) {
  if (!std::filesystem::exists("/sys/bus/pci/devices/" + device.name)) {
    return absl::NotFoundError(
        absl::StrFormat("there is no PCI device %s; `dpdk-devbind.py -s` lists them", device.name));
  }
  const std::string driver = KernelDriver(device.name);
  // These share the device with their kernel driver.
  const bool shares = driver.rfind("mlx", 0) == 0;
  const bool for_users = driver == "vfio-pci" || driver == "igb_uio" || driver == "uio_pci_generic";
  if (shares || for_users) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "PCI device %s is bound to %s, not to vfio-pci; bind it: sudo modprobe vfio-pci && sudo "
      "dpdk-devbind.py -b vfio-pci %s",
      device.name, driver.empty() ? "no driver" : "the kernel's " + driver, device.name));
}

}  // namespace

absl::Status ExplainStart(int error, const std::string& log,
                          const std::vector<std::string>& arguments) {
  if (Says(log, "Is another primary process running")) {
    return absl::AlreadyExistsError(
        "another process uses DPDK's file prefix; leave --file-prefix out, or give one that is not "
        "in use");
  }
  if (Says(log, "hugepage") || Says(log, "Cannot init memory") || Says(log, "Can't allocate")) {
    return absl::ResourceExhaustedError(
        "DPDK found too little memory; reserve huge pages (echo 1024 | sudo tee "
        "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages) or pass less by \"-m\"");
  }
  if (Says(log, "ermission denied")) {
    return absl::PermissionDeniedError(absl::StrFormat(
        "DPDK may not open what it needs; run as root or give access to it: %s", LastLines(log)));
  }
  // DPDK has printed its options, then.
  if (error == EINVAL && !arguments.empty()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "DPDK does not understand the arguments passed on to it: %s; its options stand above",
        absl::StrJoin(arguments, " ")));
  }
  return absl::InternalError(
      absl::StrFormat("DPDK does not start (%s): %s", ErrorText(error), LastLines(log)));
}

absl::Status CheckBeforeAttach(const DeviceName& device) {
  if (device.pci) return CheckPci(device);
  const bool on_interface = Says(device.name, "net_af_packet") ||
                            Says(device.name, "eth_af_packet") || Says(device.name, "net_af_xdp");
  if (on_interface) {
    const std::string interface = ArgumentOf(device.arguments, "iface");
    if (interface.empty()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("device %s does not say which interface; write dpdk:%s,iface=eth1",
                          device.name, device.name));
    }
    if (!HasInterface(interface)) {
      return absl::NotFoundError(
          absl::StrFormat("device %s: there is no interface %s here; `ip link` lists them",
                          device.name, interface));
    }
  }
  return absl::OkStatus();
}

absl::Status ExplainAttach(const DeviceName& device, int error, const std::string& log) {
  if (Says(log, "Address already in use")) {
    const std::string socket = ArgumentOf(device.arguments, "socket");
    return absl::AlreadyExistsError(absl::StrFormat(
        "device %s: its socket %s is in use; another server listens there, or one that ended left "
        "it: remove the file",
        device.name, socket.empty() ? "(the default)" : socket));
  }
  const bool refused = std::abs(error) == EPERM || std::abs(error) == EACCES;
  if (refused || Says(log, "ermission denied") || Says(log, "not permitted")) {
    return absl::PermissionDeniedError(absl::StrFormat(
        "device %s: permission denied; run as root, or give the program CAP_NET_RAW and "
        "CAP_NET_ADMIN (AF_XDP: CAP_BPF, too): sudo setcap cap_net_raw,cap_net_admin,cap_bpf+ep "
        "<program>",
        device.name));
  }
  if (Says(log, "no driver found") || (!device.pci && Says(log, "failed to parse device"))) {
    return absl::NotFoundError(absl::StrFormat(
        "device %s: DPDK has no driver of that name; its drivers are packages named librte-net-*, "
        "or the name is misspelt",
        device.name));
  }
  if (device.pci) {
    return absl::UnavailableError(absl::StrFormat(
        "device %s: DPDK does not take it (%s); see that /dev/vfio is accessible, that the IOMMU "
        "is on (intel_iommu=on iommu=pt), and that its driver package librte-net-* is installed: "
        "%s",
        device.name, ErrorText(error), LastLines(log)));
  }
  return absl::InvalidArgumentError(absl::StrFormat("device %s,%s: DPDK does not take it (%s): %s",
                                                    device.name, device.arguments, ErrorText(error),
                                                    LastLines(log)));
}

}  // namespace weir
