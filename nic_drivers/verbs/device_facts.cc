#include "nic_drivers/verbs/device_facts.h"

#include <filesystem>
#include <fstream>

#include "absl/strings/str_format.h"
#include "nic_drivers/verbs/causes.h"
#include "nic_drivers/verbs/device.h"

namespace weir {
namespace {

constexpr char kSysfs[] = "/sys/class/infiniband/";
constexpr int64_t kMega = 1'000'000;

int64_t LaneMegabits(uint8_t speed) {
  switch (speed) {
    case 1:
      return 2'500;
    case 2:
      return 5'000;
    case 4:
    case 8:
      return 10'000;
    case 16:
      return 14'000;
    case 32:
      return 25'000;
    case 64:
      return 50'000;
    case 128:
      return 100'000;
    default:
      return 0;
  }
}

int64_t Lanes(uint8_t width) {
  switch (width) {
    case 1:
      return 1;
    case 2:
      return 4;
    case 4:
      return 8;
    case 8:
      return 12;
    case 16:
      return 2;
    default:
      return 0;
  }
}

}  // namespace

Rate PortRate(const ibv_port_attr& port) {
  const int64_t megabits = LaneMegabits(port.active_speed) * Lanes(port.active_width);
  return Rate((megabits > 0 ? megabits : 100'000) * kMega);
}

std::string RdmaKernelDriver(const std::string& device) {
  std::error_code error;
  const auto link = std::filesystem::read_symlink(kSysfs + device + "/device/driver", error);
  if (!error) return link.filename();
  std::string description;
  std::ifstream in(kSysfs + device + "/node_desc");
  std::getline(in, description);
  return description.empty() ? "unknown" : description;
}

int RdmaNumaNode(const std::string& device) {
  int node = -1;
  std::ifstream in(kSysfs + device + "/device/numa_node");
  return in >> node ? node : -1;
}

DeviceCounters VerbsDevice::counters() const {
  DeviceCounters out;
  for (const auto& port : ports_) {
    const VerbsCounters& c = port->counters();
    out.rx_packets += c.rx_packets;
    out.rx_bytes += c.rx_bytes;
    out.rx_errors += c.rx_errors;
    out.rx_foreign += c.rx_foreign;
    out.tx_packets += c.tx_packets;
    out.tx_bytes += c.tx_bytes;
    out.tx_dropped += c.tx_dropped;
    out.tx_copied += c.tx_copied;
    out.buffers_in_use += c.buffers;
  }
  return out;
}

std::vector<std::string> VerbsDevice::features() const {
  std::vector<std::string> out;
  out.push_back("driver: " + RdmaKernelDriver(opened_.name.device));
  out.push_back(absl::StrFormat("line rate: %d Mb/s, %s", caps_.line_rate.count() / kMega,
                                options_.line_rate.count() > 0 ? "as asked for" : "of the link"));
  out.push_back(absl::StrFormat("mtu: %u, a datagram holds %u with the Ethernet header", caps_.mtu,
                                caps_.mtu + kEthernetBytes));
  out.push_back(absl::StrFormat("queues: %u of %u asked for", queues(), options_.queues));
  out.push_back(absl::StrFormat("paths: %u UD queue pairs a queue", opened_.name.paths));
  out.push_back(absl::StrFormat("GID: index %u of port %u", opened_.gid.index, opened_.name.port));
  out.push_back(options_.offloads ? "payload: registered memory leaves in place"
                                  : "payload: copied, no offloads are asked for");
  out.push_back("arrival: the time of the poll");
  uint64_t revived = 0;
  int failure = 0;
  for (const auto& port : ports_) {
    revived += port->counters().revived;
    if (port->counters().failure != 0) failure = port->counters().failure;
  }
  if (revived > 0) {
    out.push_back(absl::StrFormat("sends that failed: %s; queue pairs revived %u times",
                                  CompletionCause(failure), revived));
  }
  const std::lock_guard lock(event_mutex_);
  if (!last_event_.empty()) out.push_back("latest event: " + last_event_);
  return out;
}

DeviceFacts VerbsDevice::facts() const {
  DeviceFacts facts{.driver = "verbs_" + RdmaKernelDriver(opened_.name.device),
                    .library = "rdma-core " WEIR_VERBS_VERSION,
                    .firmware = opened_.attributes.fw_ver,
                    .queues_max = QueuesMax(),
                    .mtu_max = MtuBytes(opened_.port.max_mtu) - kEthernetBytes,
                    .numa_node = RdmaNumaNode(opened_.name.device)};
  facts.abilities = {
      {"payload in place", true, options_.offloads, "payload is copied behind the headers"},
      {"IPv4 checksum of received packets", false, false, "checked by the core"},
      {"VLAN tags written", false, false, "the VLAN is the network interface's"},
      {"VLAN tags taken off", false, false, "the VLAN is the network interface's"},
      {"spreading over queues by a hash", false, false, "queue pairs are named by the sender"},
      {"receive time stamps", false, false, "the time of the poll"},
      {"sending at a time given", false, false, "paced by the core"},
      {"flow rules for Weir's ports", false, false, "queue pairs are named by the sender"},
      {"a queue pair for each path", true, true, ""},
      {"ECN marks shown", false, false, "algorithms that need marks are refused"},
  };
  return facts;
}

}  // namespace weir
