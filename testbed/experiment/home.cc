#include "testbed/experiment/home.h"

namespace weir {

Counters Home::TotalCounters() {
  Counters total;
  for (const uint32_t host : hosts_) {
    Look(host, [&total](const Endpoint& endpoint) { total += endpoint.counters(); });
  }
  return total;
}

}  // namespace weir
