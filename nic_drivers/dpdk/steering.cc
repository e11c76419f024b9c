#include "nic_drivers/dpdk/steering.h"

#include <rte_flow.h>

#include "datapath/wire.h"
#include "nic_drivers/sorter.h"

namespace weir {
namespace {

rte_flow* Rule(uint16_t ethdev, uint16_t udp_port, uint16_t queue, bool v6, int vlan) {
  rte_flow_attr attributes{};
  attributes.ingress = 1;
  rte_flow_item_udp port{}, mask{};
  port.hdr.dst_port = rte_cpu_to_be_16(udp_port);
  mask.hdr.dst_port = 0xFFFF;
  rte_flow_item_vlan tag{}, tag_mask{};
  tag.tci = rte_cpu_to_be_16(static_cast<uint16_t>(vlan));
  tag_mask.tci = rte_cpu_to_be_16(0xFFF);
  rte_flow_item pattern[5]{};
  size_t n = 0;
  pattern[n++].type = RTE_FLOW_ITEM_TYPE_ETH;
  if (vlan >= 0) {
    pattern[n] = {
        .type = RTE_FLOW_ITEM_TYPE_VLAN, .spec = &tag, .last = nullptr, .mask = &tag_mask};
    ++n;
  }
  pattern[n++].type = v6 ? RTE_FLOW_ITEM_TYPE_IPV6 : RTE_FLOW_ITEM_TYPE_IPV4;
  pattern[n++] = {.type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &port, .last = nullptr, .mask = &mask};
  pattern[n].type = RTE_FLOW_ITEM_TYPE_END;
  const rte_flow_action_queue to = {.index = queue};
  rte_flow_action actions[2]{};
  actions[0].type = RTE_FLOW_ACTION_TYPE_QUEUE;
  actions[0].conf = &to;
  actions[1].type = RTE_FLOW_ACTION_TYPE_END;
  rte_flow_error error{};
  if (rte_flow_validate(ethdev, &attributes, pattern, actions, &error) != 0) return nullptr;
  return rte_flow_create(ethdev, &attributes, pattern, actions, &error);
}

}  // namespace

bool FlowRules::Isolate(uint16_t ethdev) {
  rte_flow_error error{};
  isolated_ = rte_flow_isolate(ethdev, 1, &error) == 0;
  return isolated_;
}

bool FlowRules::Install(uint16_t ethdev, uint16_t queues, bool v6, int vlan) {
  ethdev_ = ethdev;
  for (uint16_t worker = 0; worker < kWorkersMax; ++worker) {
    const auto udp_port = static_cast<uint16_t>(kUdpPort + worker);
    rte_flow* rule = Rule(ethdev, udp_port, static_cast<uint16_t>(worker % queues), v6, vlan);
    if (rule == nullptr) {
      Remove();
      return false;
    }
    rules_.push_back(rule);
  }
  return true;
}

void FlowRules::Remove() {
  rte_flow_error error{};
  for (rte_flow* rule : rules_) (void)rte_flow_destroy(ethdev_, rule, &error);
  rules_.clear();
}

FlowRules::~FlowRules() { Remove(); }

}  // namespace weir
