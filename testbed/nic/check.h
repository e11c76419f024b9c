// The conformance suite of the datapath over two devices that reach each other, in one process or
// in two.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "datapath/nic_device.h"
#include "testbed/nic/check_host.h"
#include "testbed/nic/check_report.h"

namespace weir {

class RemoteHost;

struct CheckOptions {
  std::string label{};     // of the pair, in the report
  DeviceOptions a{}, b{};  // addresses of one link; queues, VLAN and offloads are the suite's
  uint32_t queues = 4;     // of the check of several, as far as both devices have them
  uint32_t frames = 1000;  // of each size, each way
  // A link that is up may take so much longer until it carries frames.
  std::chrono::milliseconds first_frame_max{3000};
  std::vector<std::string> only{};  // names of checks; empty: all
  bool remove = false;              // take A out while it works, too: a PCI device under vfio-pci
  // Takes A's link down and up from outside; empty: its driver does.
  std::function<absl::Status(bool up)> set_link{};
};

// The two sides, and how their devices, which are closed, are opened.
struct CheckHosts {
  std::unique_ptr<CheckHost> a{}, b{};
  std::function<absl::Status(const DeviceOptions& a, const DeviceOptions& b)> open{};
  // A alone once more; empty: it cannot be.
  std::function<absl::Status(const DeviceOptions& a)> open_a{};
};

struct DevicePair {
  std::unique_ptr<NicDevice> a, b;
};
using PairOpener =
    std::function<absl::StatusOr<DevicePair>(const DeviceOptions& a, const DeviceOptions& b)>;
using DeviceOpener =
    std::function<absl::StatusOr<std::unique_ptr<NicDevice>>(const DeviceOptions& options)>;

// Both in this process; `open_a` may be empty.
CheckHosts HostsHere(const PairOpener& open, const DeviceOpener& open_a);
// A in this process, B in another, opened first.
CheckHosts HostsWith(std::unique_ptr<RemoteHost> b, const DeviceOpener& open_a);

// By OpenDevices: "ring", twice, is two devices that rings join.
absl::StatusOr<DevicePair> OpenPair(const DeviceOptions& a, const DeviceOptions& b);

// Their names, in order.
std::vector<std::string> CheckNames();

// All checks, in order; `seen` hears of each when it is done. Fails only where nothing could be
// opened, or, kAborted, a host went out of reach: what else fails stands in the report.
absl::StatusOr<CheckReport> RunChecks(const CheckOptions& options, CheckHosts hosts,
                                      const std::function<void(const CheckOutcome&)>& seen);

}  // namespace weir
