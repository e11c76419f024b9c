#include "nic_drivers/dpdk/threads.h"

#include <rte_lcore.h>

#include "nic_drivers/dpdk/eal.h"

namespace weir {
namespace {

thread_local bool registered_here = false;

}  // namespace

void DpdkThreadBegins() {
  // When DPDK has no number left, the thread works without a cache.
  if (EalRuns() && rte_lcore_id() == LCORE_ID_ANY) registered_here = rte_thread_register() == 0;
}

void DpdkThreadEnds() {
  if (registered_here) rte_thread_unregister();
  registered_here = false;
}

}  // namespace weir
