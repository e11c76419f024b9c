#include "nic_drivers/dpdk/removal.h"

#include <errno.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_pause.h>

namespace weir {
namespace {

// Both on DPDK's interrupt thread.
void OnBus(const char*, rte_dev_event_type event, void* seen) {
  if (event == RTE_DEV_EVENT_REMOVE) static_cast<std::atomic<bool>*>(seen)->store(true);
}
int OnPort(uint16_t, rte_eth_event_type, void* seen, void*) {
  static_cast<std::atomic<bool>*>(seen)->store(true);
  return 0;
}

}  // namespace

Removal::Removal(uint16_t ethdev) : ethdev_(ethdev) {
  rte_eth_dev_info info{};
  if (rte_eth_dev_info_get(ethdev, &info) == 0 && info.device != nullptr) {
    name_ = rte_dev_name(info.device);
    (void)rte_dev_event_callback_register(name_.c_str(), OnBus, &seen_);
  }
  (void)rte_eth_dev_callback_register(ethdev, RTE_ETH_EVENT_INTR_RMV, OnPort, &seen_);
}

Removal::~Removal() {
  (void)rte_eth_dev_callback_unregister(ethdev_, RTE_ETH_EVENT_INTR_RMV, OnPort, &seen_);
  // Not while it is being called.
  while (!name_.empty() &&
         rte_dev_event_callback_unregister(name_.c_str(), OnBus, &seen_) == -EAGAIN) {
    rte_pause();
  }
}

}  // namespace weir
