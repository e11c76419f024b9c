// A DPDK Ethernet device is asked what it can do, set up accordingly and started.
#pragma once

#include <rte_mempool.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "datapath/nic_device.h"

namespace weir {

struct EthSetup {
  uint16_t ethdev = 0;
  std::string driver;  // DPDK's name of it: "net_memif", "mlx5_pci"
  bool is_virtual = false;
  bool by_reference = false;  // buffers change owner as they are: rings
  bool one_pool = false;      // what it sends must be in the memory that it receives to
  bool pushes_out = false;    // the device cannot be asked for what it has sent
  uint16_t queues = 1;
  uint16_t rx_descriptors = 0;
  uint16_t tx_descriptors = 0;
  uint32_t mtu = 0;
  bool multi_segment = false;
  bool rx_checksum = false;
  bool vlan_insert = false;
  bool vlan_strip = false;
  bool vlan_filter = false;
  bool rss = false;
  uint32_t mtu_max = 0;
  uint32_t queues_max = 1;
  bool rx_stamps = false;   // the device says when a frame arrived, and its clock can be read
  int stamp_offset = -1;    // of the stamp in a buffer
  uint64_t stamp_flag = 0;  // that a buffer has one
  Rate line_rate{};
  std::string line_rate_from;  // "the link", "options", "assumed"
  int socket = 0;
  std::vector<std::string> warnings;
};

// Asks and configures; the device is stopped.
absl::StatusOr<EthSetup> ConfigureEth(uint16_t ethdev, const DeviceOptions& options);
// A pool for the received frames of each queue.
absl::Status StartEth(EthSetup& setup, const std::vector<rte_mempool*>& rx_pools,
                      const DeviceOptions& options);
// Stops and closes it.
void CloseEth(const EthSetup& setup);
// DPDK's name of the device's driver.
std::string EthDriver(uint16_t ethdev);
bool EthLinkUp(uint16_t ethdev);
// kUnimplemented: the device cannot.
absl::Status SetEthLink(uint16_t ethdev, bool up);

}  // namespace weir
