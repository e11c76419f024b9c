#include "nic_drivers/dpdk/pools.h"

#include <rte_errno.h>
#include <rte_mbuf.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"

namespace weir {
namespace {

constexpr unsigned kCache = 256;

struct Retired {
  std::mutex mutex;
  std::vector<rte_mempool*> pools;
};
Retired& TheRetired() {
  static Retired& retired = *new Retired;
  return retired;
}

}  // namespace

absl::StatusOr<rte_mempool*> MakePool(uint32_t buffers, uint16_t room, int socket) {
  static uint32_t number = 0;
  const std::string name = absl::StrFormat("weir_%u", number++);
  const unsigned cache = std::min(kCache, buffers / 8);
  rte_mempool* pool = rte_pktmbuf_pool_create(name.c_str(), buffers, cache, 0, room, socket);
  if (pool != nullptr) return pool;
  return absl::ResourceExhaustedError(absl::StrFormat(
      "no memory for %u packet buffers of %u bytes (%s); reserve more huge pages, or without them "
      "give DPDK more memory by the argument -m <megabytes>",
      buffers, room, rte_strerror(rte_errno)));
}

void RetirePool(rte_mempool* pool) {
  Retired& retired = TheRetired();
  const std::lock_guard lock(retired.mutex);
  if (pool != nullptr) retired.pools.push_back(pool);
  std::erase_if(retired.pools, [](rte_mempool* p) {
    if (!rte_mempool_full(p)) return false;
    rte_mempool_free(p);
    return true;
  });
}

}  // namespace weir
