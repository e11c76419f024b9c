#include "nic_drivers/host/device_text.h"

#include "nic_drivers/registry.h"

namespace weir {
namespace {

constexpr uint32_t kMtuMax = 9978;  // what fits the core's largest payload

void ReadNeighbours(TableReader& r, DeviceOptions& out) {
  const toml::table* table = r.Table("neighbours");
  if (table == nullptr) return;
  for (const auto& [ip, mac] : *table) {
    if (!mac.is_string()) {
      return r.Fail(&mac, "neighbours: write \"10.0.0.2\" = \"02:00:00:00:00:02\"");
    }
    out.neighbours[std::string(ip.str())] = mac.as_string()->get();
  }
}

}  // namespace

void ReadDevice(TableReader& r, DeviceOptions& out) {
  r.String("name", out.device);
  r.String("address", out.address);
  r.String("gateway", out.gateway);
  ReadNeighbours(r, out);
  r.Integer("mtu", 0, kMtuMax, out.mtu);
  r.Integer("vlan", 1, 4094, out.vlan);
  r.Speed("line_rate", out.line_rate);
  r.Bool("offloads", out.offloads);
  if (const toml::array* arguments = r.Array("arguments")) {
    for (const toml::node& node : *arguments) {
      if (!node.is_string()) return r.Fail(&node, "arguments: must be strings");
      out.arguments.push_back(node.as_string()->get());
    }
  }
  if (out.device.empty()) r.FailKey("name", "is missing; write name = \"dpdk:0000:3b:00.0\"");
  const DriverEntry* driver = FindDriver(out.device);
  // Of a driver that is not built in, opening the device says more.
  if (out.address.empty() && driver != nullptr && !driver->has_address) {
    r.FailKey("address", "is missing; write address = \"10.0.0.1/24\"");
  }
}

}  // namespace weir
