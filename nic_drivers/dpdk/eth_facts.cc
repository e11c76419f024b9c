#include "nic_drivers/dpdk/eth_facts.h"

#include <rte_ethdev.h>
#include <rte_version.h>

namespace weir {
namespace {

std::string Firmware(uint16_t ethdev) {
  char text[128] = {};
  return rte_eth_dev_fw_version_get(ethdev, text, sizeof text) == 0 ? text : "";
}

}  // namespace

DeviceFacts EthFacts(const EthSetup& setup, const DeviceOptions& options, bool rules) {
  rte_eth_dev_info info{};
  (void)rte_eth_dev_info_get(setup.ethdev, &info);
  const auto rx = [&](uint64_t flag) { return (info.rx_offload_capa & flag) != 0; };
  const auto tx = [&](uint64_t flag) { return (info.tx_offload_capa & flag) != 0; };
  DeviceFacts facts{.driver = setup.driver,
                    .library = rte_version(),
                    .firmware = Firmware(setup.ethdev),
                    .queues_max = setup.queues_max,
                    .mtu_max = setup.mtu_max,
                    .numa_node = setup.socket};
  const bool tagged = options.vlan >= 0;
  facts.abilities = {
      {"payload in place", tx(RTE_ETH_TX_OFFLOAD_MULTI_SEGS) || setup.by_reference,
       setup.multi_segment, "payload is copied behind the headers"},
      {"IPv4 checksum of received packets", rx(RTE_ETH_RX_OFFLOAD_IPV4_CKSUM), setup.rx_checksum,
       "checked by the core"},
      {"VLAN tags written", tx(RTE_ETH_TX_OFFLOAD_VLAN_INSERT), setup.vlan_insert,
       tagged ? "written by the driver" : "no VLAN is asked for"},
      {"VLAN tags taken off", rx(RTE_ETH_RX_OFFLOAD_VLAN_STRIP), setup.vlan_strip,
       tagged ? "taken off by the core" : "no VLAN is asked for"},
      {"spreading over queues by a hash",
       (info.flow_type_rss_offloads & (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP)) != 0, setup.rss,
       setup.queues > 1 ? "passed between queues" : "one queue is open"},
      {"receive time stamps", rx(RTE_ETH_RX_OFFLOAD_TIMESTAMP), setup.rx_stamps,
       "the time of the poll"},
      {"sending at a time given", tx(RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP), false,
       "paced by the core"},
  };
  // Rules are offered where they are taken; that is found out with several queues only.
  facts.abilities.push_back({"flow rules for Weir's ports", rules, rules,
                             setup.queues > 1 ? "steered by software" : "one queue is open"});
  return facts;
}

}  // namespace weir
