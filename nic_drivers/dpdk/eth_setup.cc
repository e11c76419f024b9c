#include "nic_drivers/dpdk/eth_setup.h"

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_mbuf_dyn.h>

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_format.h"
#include "nic_drivers/address_text.h"
#include "nic_drivers/dpdk/dma.h"
#include "nic_drivers/dpdk/eal.h"
#include "nic_drivers/dpdk/eth_clock.h"
#include "nic_drivers/dpdk/host_facts.h"
#include "nic_drivers/neighbour_frames.h"

namespace weir {
namespace {

constexpr uint16_t kDescriptors = 1024;
constexpr uint32_t kMtuDefault = 1500;
constexpr uint32_t kMtuMin = 576;
constexpr uint32_t kMtuMax = 9600;
constexpr uint32_t kAfPacketQueues = 16;
constexpr Rate kRateAssumed = Gbps(100);

absl::Status Failed(const EthSetup& setup, const char* what, int error) {
  return absl::UnavailableError(absl::StrFormat("device %s: %s failed: %s", setup.driver, what,
                                                rte_strerror(error < 0 ? -error : error)));
}

// These carry frames of any length that their buffers hold, but tell DPDK 1500 bytes.
bool TakesAnyLength(const std::string& driver) {
  return driver == "net_ring" || driver == "net_memif" || driver == "net_af_packet";
}

// The longest packet that DPDK lets the device be configured for.
uint32_t MtuMax(const rte_eth_dev_info& info) {
  const bool own = info.max_mtu != UINT16_MAX && info.max_rx_pktlen > info.max_mtu;
  const uint32_t around = own ? info.max_rx_pktlen - info.max_mtu : kEthernetBytes + kFcsBytes;
  const uint32_t by_frame = info.max_rx_pktlen > around ? info.max_rx_pktlen - around : kMtuMin;
  return std::min<uint32_t>(info.max_mtu, by_frame);
}

// As asked; else as the kernel's interface is set; else as DPDK says.
uint32_t WantedMtu(const EthSetup& setup, const rte_eth_dev_info& info, uint32_t most) {
  uint32_t mtu = InterfaceMtu(info.if_index);
  uint16_t dpdk = 0;
  if (mtu == 0 && rte_eth_dev_get_mtu(setup.ethdev, &dpdk) == 0) mtu = dpdk;
  return std::clamp(mtu == 0 ? kMtuDefault : mtu, kMtuMin, most);
}

absl::Status ChooseMtu(EthSetup& setup, const rte_eth_dev_info& info, uint32_t asked) {
  const uint32_t most =
      TakesAnyLength(setup.driver) ? kMtuMax : std::min<uint32_t>(MtuMax(info), kMtuMax);
  setup.mtu_max = most;
  setup.mtu = asked != 0 ? asked : WantedMtu(setup, info, most);
  if (setup.mtu >= kMtuMin && setup.mtu <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("device %s: an MTU of %u is not possible; give one from %u to %u",
                      setup.driver, setup.mtu, kMtuMin, most));
}

// The kernel's interface below, if there is one, must agree.
absl::Status SetMtu(const EthSetup& setup, const rte_eth_dev_info& info) {
  const uint32_t interface = InterfaceMtu(info.if_index);
  bool done = interface == setup.mtu;
  if (!done && TakesAnyLength(setup.driver)) {
    done = interface == 0 || SetInterfaceMtu(info.if_index, setup.mtu);
  } else if (!done) {
    const int error = rte_eth_dev_set_mtu(setup.ethdev, static_cast<uint16_t>(setup.mtu));
    done = error == 0 || error == -ENOTSUP;
  }
  if (done) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "device %s does not take an MTU of %u; give a smaller one", setup.driver, setup.mtu));
}

// One driver serves all e1000, but those of conventional PCI have one queue where it says two, and
// their link is never seen to come up by interrupts.
bool IsOldE1000(const EthSetup& setup, const rte_eth_dev_info& info) {
  return setup.driver == "net_e1000_em" &&
         !std::filesystem::exists(std::string("/sys/bus/pci/devices/") + rte_dev_name(info.device) +
                                  "/current_link_speed");
}

void SetQueues(EthSetup& setup, const rte_eth_dev_info& info, uint32_t asked) {
  uint32_t most = std::max<uint32_t>(std::min(info.max_rx_queues, info.max_tx_queues), 1);
  if (IsOldE1000(setup, info)) most = 1;
  // It has as many as its arguments said when it was opened.
  setup.queues_max = setup.driver == "net_af_packet" ? kAfPacketQueues : most;
  setup.queues = static_cast<uint16_t>(std::clamp(asked, 1u, most));
  if (setup.queues == asked) return;
  setup.warnings.push_back(absl::StrFormat("device %s has %u queue pairs, not the %u asked for",
                                           setup.driver, setup.queues, asked));
}

rte_eth_conf MakeConf(EthSetup& setup, const rte_eth_dev_info& info, const DeviceOptions& options) {
  rte_eth_conf conf{};
  conf.rxmode.mtu = std::min(setup.mtu, MtuMax(info));
  // Without interrupts some drivers never look at a link again that was up.
  conf.intr_conf.lsc = (*info.dev_flags & RTE_ETH_DEV_INTR_LSC) != 0 && !IsOldE1000(setup, info);
  conf.intr_conf.rmv = (*info.dev_flags & RTE_ETH_DEV_INTR_RMV) != 0;
  const int vlan = options.vlan;
  const uint64_t rx = options.offloads ? info.rx_offload_capa : 0;
  setup.rx_checksum = (rx & RTE_ETH_RX_OFFLOAD_IPV4_CKSUM) != 0;
  setup.vlan_strip = vlan >= 0 && (rx & RTE_ETH_RX_OFFLOAD_VLAN_STRIP) != 0;
  // Where there is a filter it may be on, and then passes no tag that it was not told of.
  setup.vlan_filter = vlan >= 0 && (info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_VLAN_FILTER) != 0;
  if (setup.vlan_filter) conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_VLAN_FILTER;
  if (setup.rx_checksum) conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_IPV4_CKSUM;
  if (setup.vlan_strip) conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
  const bool room = (rx & RTE_ETH_RX_OFFLOAD_TIMESTAMP) != 0 &&
                    rte_mbuf_dyn_rx_timestamp_register(&setup.stamp_offset, &setup.stamp_flag) == 0;
  setup.rx_stamps = room;
  if (room) conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_TIMESTAMP;
  // What reads frames there sees DPDK's memory, not the application's.
  const bool apart = setup.driver == "net_virtio_user";
  const uint64_t tx = options.offloads ? info.tx_offload_capa : 0;
  setup.multi_segment = setup.by_reference || (!apart && (tx & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0);
  setup.vlan_insert = vlan >= 0 && (tx & RTE_ETH_TX_OFFLOAD_VLAN_INSERT) != 0;
  if (!apart) conf.txmode.offloads = tx & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
  if (setup.vlan_insert) conf.txmode.offloads |= RTE_ETH_TX_OFFLOAD_VLAN_INSERT;
  const uint64_t hashes = info.flow_type_rss_offloads & (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP);
  if (setup.queues > 1 && hashes != 0 && options.offloads) {
    conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
    conf.rx_adv_conf.rss_conf.rss_hf = hashes;
    setup.rss = true;
  }
  return conf;
}

// The highest set counts.
Rate FastestOf(uint32_t capabilities) {
  struct Speed {
    uint32_t flag;
    int64_t gigabits;
  };
  constexpr Speed kSpeeds[] = {
      {RTE_ETH_LINK_SPEED_200G, 200}, {RTE_ETH_LINK_SPEED_100G, 100}, {RTE_ETH_LINK_SPEED_56G, 56},
      {RTE_ETH_LINK_SPEED_50G, 50},   {RTE_ETH_LINK_SPEED_40G, 40},   {RTE_ETH_LINK_SPEED_25G, 25},
      {RTE_ETH_LINK_SPEED_20G, 20},   {RTE_ETH_LINK_SPEED_10G, 10},   {RTE_ETH_LINK_SPEED_1G, 1},
  };
  for (const Speed& speed : kSpeeds) {
    if ((capabilities & speed.flag) != 0) return Gbps(speed.gigabits);
  }
  return kRateAssumed;
}

void SetLineRate(EthSetup& setup, const DeviceOptions& options) {
  if (options.line_rate > Rate(0)) {
    setup.line_rate = options.line_rate;
    setup.line_rate_from = "as configured";
    return;
  }
  // Virtual devices name a speed that says nothing.
  setup.line_rate = kRateAssumed;
  setup.line_rate_from = "assumed: a virtual device has none";
  if (setup.is_virtual) return;
  rte_eth_link link{};
  // Waits for the link for as long as it may take to come up after the start.
  if (rte_eth_link_get(setup.ethdev, &link) == 0 && link.link_status == RTE_ETH_LINK_UP &&
      link.link_speed != RTE_ETH_SPEED_NUM_NONE && link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN) {
    setup.line_rate = Mbps(link.link_speed);
    setup.line_rate_from = "of the link";
    return;
  }
  rte_eth_dev_info info;
  if (rte_eth_dev_info_get(setup.ethdev, &info) == 0) setup.line_rate = FastestOf(info.speed_capa);
  setup.line_rate_from = "the device's fastest: the link does not say";
}

void CheckLink(EthSetup& setup) {
  if (setup.is_virtual || EthLinkUp(setup.ethdev)) return;
  setup.warnings.push_back(absl::StrFormat(
      "the link of %s is down; look at the cable and at the switch's port", setup.driver));
}

void CheckSocket(EthSetup& setup, int cores_socket) {
  if (setup.socket < 0 || cores_socket < 0 || setup.socket == cores_socket) return;
  setup.warnings.push_back(absl::StrFormat(
      "device %s is on NUMA node %d and this thread on node %d; run on cores of the device's node: "
      "numactl --cpunodebind=%d --membind=%d <program>",
      setup.driver, setup.socket, cores_socket, setup.socket, setup.socket));
}

// A server takes clients once it has started, and turns away those that come earlier. A client does
// not try again by itself.
absl::Status StartMemifClient(uint16_t ethdev) {
  constexpr int kTries = 50;
  constexpr int kLooks = 20;
  constexpr unsigned kMicros = 10'000;
  for (int i = 0; i < kTries; ++i) {
    const bool started = rte_eth_dev_start(ethdev) == 0;
    for (int look = 0; look < kLooks; ++look) {
      if (started && EthLinkUp(ethdev)) return absl::OkStatus();
      rte_delay_us_sleep(kMicros);
    }
    if (started) (void)rte_eth_dev_stop(ethdev);
  }
  return absl::UnavailableError(
      "nobody answers at the socket of this net_memif device; start the side with role=server, "
      "with the same socket= and id=");
}

absl::Status Start(const EthSetup& setup, const std::string& device) {
  const std::string role = ArgumentOf(device, "role");
  const bool server = role == "server" || role == "master";
  if (setup.driver == "net_memif" && !server) return StartMemifClient(setup.ethdev);
  const int error = rte_eth_dev_start(setup.ethdev);
  return error == 0 ? absl::OkStatus() : Failed(setup, "starting it", error);
}

// Neighbour discovery arrives by multicast. A virtual function may be given the groups that it
// names and no others, and not even those once it asked for all.
void HearNeighbours(uint16_t ethdev, const NetAddress& self) {
  rte_ether_addr group{};
  std::ranges::copy(SolicitedGroup(self.ip), group.addr_bytes);
  if (rte_eth_dev_set_mc_addr_list(ethdev, &group, 1) == 0) return;
  if (rte_eth_allmulticast_enable(ethdev) == 0) return;
  (void)rte_eth_promiscuous_enable(ethdev);
}

}  // namespace

absl::StatusOr<EthSetup> ConfigureEth(uint16_t ethdev, const DeviceOptions& options) {
  rte_eth_dev_info info;
  EthSetup setup;
  setup.ethdev = ethdev;
  if (const int error = rte_eth_dev_info_get(ethdev, &info); error != 0) {
    return Failed(setup, "asking the device", error);
  }
  setup.driver = info.driver_name;
  setup.by_reference = setup.driver == "net_ring";
  setup.one_pool = setup.driver == "net_af_xdp";
  // DPDK 22.11's igb sends nothing any more once it was asked.
  setup.pushes_out = setup.driver == "net_e1000_igb" || setup.driver == "net_e1000_igb_vf";
  setup.is_virtual =
      !std::filesystem::exists(std::string("/sys/bus/pci/devices/") + rte_dev_name(info.device));
  setup.socket = rte_eth_dev_socket_id(ethdev);
  SetQueues(setup, info, options.queues);
  if (absl::Status status = ChooseMtu(setup, info, options.mtu); !status.ok()) return status;
  const rte_eth_conf conf = MakeConf(setup, info, options);
  if (!setup.is_virtual && !ReadsByProcessAddress(ethdev)) setup.multi_segment = false;
  const int error = rte_eth_dev_configure(ethdev, setup.queues, setup.queues, &conf);
  if (error != 0) return Failed(setup, "configuring it", error);
  if (absl::Status status = SetMtu(setup, info); !status.ok()) return status;
  setup.rx_descriptors = setup.tx_descriptors = kDescriptors;
  (void)rte_eth_dev_adjust_nb_rx_tx_desc(ethdev, &setup.rx_descriptors, &setup.tx_descriptors);
  CheckSocket(setup, CurrentNode());
  return setup;
}

absl::Status StartEth(EthSetup& setup, const std::vector<rte_mempool*>& rx_pools,
                      const DeviceOptions& options) {
  const unsigned socket = static_cast<unsigned>(setup.socket);
  for (uint16_t q = 0; q < setup.queues; ++q) {
    int error =
        rte_eth_rx_queue_setup(setup.ethdev, q, setup.rx_descriptors, socket, nullptr, rx_pools[q]);
    if (error != 0) return Failed(setup, "setting up a receive queue", error);
    error = rte_eth_tx_queue_setup(setup.ethdev, q, setup.tx_descriptors, socket, nullptr);
    if (error != 0) return Failed(setup, "setting up a transmit queue", error);
  }
  if (absl::Status status = Start(setup, options.device); !status.ok()) return status;
  if (setup.vlan_filter) {
    const int error = rte_eth_dev_vlan_filter(setup.ethdev, static_cast<uint16_t>(options.vlan), 1);
    if (error != 0) return Failed(setup, "letting its VLAN pass", error);
  }
  if (absl::StatusOr<Subnet> own = ParseSubnet(options.address); own.ok() && own->address.v6) {
    HearNeighbours(setup.ethdev, own->address);
  }
  (void)rte_eth_stats_reset(setup.ethdev);
  // Without its clock the stamps of a device say nothing here.
  uint64_t ticks = 0;
  if (setup.rx_stamps) setup.rx_stamps = ReadEthClock(setup.ethdev, ticks);
  SetLineRate(setup, options);
  CheckLink(setup);
  return absl::OkStatus();
}

void CloseEth(const EthSetup& setup) {
  // Each end of a memif tears down on DPDK's interrupt thread, too, when the other end goes, and
  // DPDK 22.11 does not keep the two apart: that thread is given time to finish.
  constexpr unsigned kMicros = 20'000;
  const bool memif = setup.driver == "net_memif";
  if (memif) rte_delay_us_sleep(kMicros);
  (void)rte_eth_dev_stop(setup.ethdev);
  if (memif) rte_delay_us_sleep(kMicros);
  (void)rte_eth_dev_close(setup.ethdev);
}

std::string EthDriver(uint16_t ethdev) {
  rte_eth_dev_info info;
  return rte_eth_dev_info_get(ethdev, &info) == 0 ? info.driver_name : "";
}

bool EthLinkUp(uint16_t ethdev) {
  rte_eth_link link{};
  return rte_eth_link_get_nowait(ethdev, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

absl::Status SetEthLink(uint16_t ethdev, bool up) {
  const int error = up ? rte_eth_dev_set_link_up(ethdev) : rte_eth_dev_set_link_down(ethdev);
  if (error == 0) return absl::OkStatus();
  const std::string driver = EthDriver(ethdev);
  if (error == -ENOTSUP) {
    return absl::UnimplementedError(
        absl::StrFormat("DPDK's driver %s cannot take a link down", driver));
  }
  return absl::UnavailableError(absl::StrFormat("device %s: taking its link %s failed: %s", driver,
                                                up ? "up" : "down", rte_strerror(-error)));
}

}  // namespace weir
