#include "nic_drivers/dpdk/virtual_arguments.h"

#include <net/if.h>

#include <algorithm>

#include "absl/strings/str_format.h"
#include "nic_drivers/dpdk/host_facts.h"

namespace weir {
namespace {

constexpr uint32_t kShort = 1900;  // an MTU that the drivers' own buffers, of 2 KiB, are enough for
constexpr uint32_t kMtuMax = 9600;  // that a device is set to
constexpr uint32_t kPage = 4096;
constexpr uint32_t kAround = 192;  // the kernel's header of a slot, Ethernet and a tag

void Default(DeviceName& device, const char* key, uint32_t value) {
  if (!ArgumentOf(device.arguments, key).empty()) return;
  if (!device.arguments.empty()) device.arguments += ",";
  device.arguments += absl::StrFormat("%s=%u", key, value);
}

}  // namespace

uint32_t AfPacketSlot(uint32_t mtu) { return (mtu + kAround + kPage - 1) / kPage * kPage; }

void AddVirtualArguments(const DeviceOptions& options, DeviceName& device) {
  const auto is = [&](const char* driver) { return device.name.rfind(driver, 0) == 0; };
  const bool packet = is("net_af_packet") || is("eth_af_packet");
  if (options.queues > 1 && packet) Default(device, "qpairs", options.queues);
  if (options.queues > 1 && is("net_af_xdp")) Default(device, "queue_count", options.queues);
  // As asked for; else as the interface below is set.
  const std::string interface = ArgumentOf(device.arguments, "iface");
  uint32_t mtu = options.mtu;
  if (mtu == 0 && packet) mtu = InterfaceMtu(if_nametoindex(interface.c_str()));
  mtu = std::min(mtu, kMtuMax);
  if (mtu <= kShort) return;
  if (packet && ArgumentOf(device.arguments, "framesz").empty()) {
    // Its slots must fill the kernel's blocks, which are whole pages: one slot a block does.
    Default(device, "framesz", AfPacketSlot(mtu));
    Default(device, "blocksz", AfPacketSlot(mtu));
  }
  // Else one frame takes several of its buffers and would be put together again on arrival.
  if (is("net_memif")) Default(device, "bsize", 1024 * (mtu / 1024 + 2));
}

}  // namespace weir
