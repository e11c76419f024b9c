#include "nic_drivers/dpdk/doctor_device.h"

#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_format.h"
#include "nic_drivers/dpdk/explain.h"
#include "nic_drivers/dpdk/host_facts.h"

namespace weir {
namespace {

namespace fs = std::filesystem;

void ExamineInterface(const std::string& interface, std::vector<Finding>& out) {
  const std::string state = FirstLine("/sys/class/net/" + interface + "/operstate");
  const bool up = state == "up" || state == "unknown";
  out.push_back({up ? Verdict::kOk : Verdict::kWarn,
                 absl::StrFormat("link of %s: %s", interface, state.empty() ? "not known" : state),
                 up ? "" : "sudo ip link set " + interface + " up, and look at the cable"});
}

void ExamineNode(const std::string& pci, std::vector<Finding>& out) {
  const std::string text = FirstLine("/sys/bus/pci/devices/" + pci + "/numa_node");
  const int node = text.empty() ? -1 : std::atoi(text.c_str());
  const int here = CurrentNode();
  const bool good = node < 0 || here < 0 || node == here;
  out.push_back(
      {good ? Verdict::kOk : Verdict::kWarn,
       absl::StrFormat("NUMA node of the device: %d, of this process: %d", node, here),
       good ? "" : absl::StrFormat("numactl --cpunodebind=%d --membind=%d <program>", node, node)});
}

}  // namespace

void ExamineDevice(const DeviceName& device, std::vector<Finding>& out) {
  const absl::Status status = CheckBeforeAttach(device);
  out.push_back({status.ok() ? Verdict::kOk : Verdict::kFail, "device " + device.name,
                 std::string(status.message())});
  if (!status.ok()) return;
  const std::string interface = ArgumentOf(device.arguments, "iface");
  if (!interface.empty() && HasInterface(interface)) ExamineInterface(interface, out);
  if (!device.pci) return;
  ExamineNode(device.name, out);
  std::error_code error;
  for (const auto& net :
       fs::directory_iterator("/sys/bus/pci/devices/" + device.name + "/net", error)) {
    ExamineInterface(net.path().filename(), out);
  }
}

}  // namespace weir
