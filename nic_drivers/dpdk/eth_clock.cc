#include "nic_drivers/dpdk/eth_clock.h"

#include <rte_ethdev.h>

namespace weir {

bool ReadEthClock(uint16_t ethdev, uint64_t& ticks) {
  return rte_eth_read_clock(ethdev, &ticks) == 0;
}

}  // namespace weir
