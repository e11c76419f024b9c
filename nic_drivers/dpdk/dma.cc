#include "nic_drivers/dpdk/dma.h"

#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_memory.h>

#include <map>
#include <mutex>
#include <string>

#include "absl/strings/str_format.h"
#include "nic_drivers/dpdk/eal_log.h"

namespace weir {
namespace {

constexpr uintptr_t kPage = 4096;
// Many IOMMUs know addresses of 39 bits, and a process's own are of 47. DPDK's memory is at the low
// end of what they know.
constexpr uint64_t kNarrowEnd = uint64_t{1} << 39;

struct Pages {
  void* base;
  size_t size;
};
Pages PagesOf(const std::byte* base, size_t size) {
  const auto from = reinterpret_cast<uintptr_t>(base) & ~(kPage - 1);
  const auto to = (reinterpret_cast<uintptr_t>(base) + size + kPage - 1) & ~(kPage - 1);
  return {reinterpret_cast<void*>(from), to - from};
}

// Addresses below kNarrowEnd that were given out, all devices together, since they share an IOMMU.
class NarrowAddresses {
 public:
  // As high as there is room.
  uint64_t Take(size_t size) {
    const std::lock_guard lock(mutex_);
    uint64_t end = kNarrowEnd;
    for (auto used = used_.rbegin(); used != used_.rend(); ++used) {
      if (end - (used->first + used->second) >= size) break;
      end = used->first;
    }
    used_[end - size] = size;
    return end - size;
  }
  void GiveBack(uint64_t at) {
    const std::lock_guard lock(mutex_);
    used_.erase(at);
  }

 private:
  std::mutex mutex_;
  std::map<uint64_t, size_t> used_;
};
NarrowAddresses& TheNarrow() {
  static NarrowAddresses& narrow = *new NarrowAddresses;
  return narrow;
}

rte_device* DeviceOf(uint16_t ethdev) {
  rte_eth_dev_info info;
  return rte_eth_dev_info_get(ethdev, &info) == 0 ? info.device : nullptr;
}

}  // namespace

bool ReadsByProcessAddress(uint16_t ethdev) {
  if (rte_eal_iova_mode() == RTE_IOVA_VA) return true;
  rte_eth_dev_info info;
  // These look memory up in registrations of their own.
  return rte_eth_dev_info_get(ethdev, &info) == 0 &&
         std::string(info.driver_name).rfind("mlx", 0) == 0;
}

absl::StatusOr<MappedMemory> MapForDevice(uint16_t ethdev, std::byte* base, size_t size) {
  const Pages pages = PagesOf(base, size);
  if (rte_extmem_register(pages.base, pages.size, nullptr, 0, kPage) != 0) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "memory cannot be registered with DPDK (%s); registered regions share no page",
        rte_strerror(rte_errno)));
  }
  const auto own = reinterpret_cast<uint64_t>(pages.base);
  const uint64_t offset = reinterpret_cast<uint64_t>(base) - own;
  (void)TakeEalLog();
  rte_device* device = DeviceOf(ethdev);
  if (rte_dev_dma_map(device, pages.base, own, pages.size) == 0) {
    return MappedMemory{size, own + offset, device};
  }
  const uint64_t narrow = TheNarrow().Take(pages.size);
  if (rte_dev_dma_map(device, pages.base, narrow, pages.size) == 0) {
    return MappedMemory{size, narrow + offset, device};
  }
  TheNarrow().GiveBack(narrow);
  (void)rte_extmem_unregister(pages.base, pages.size);
  return absl::FailedPreconditionError(absl::StrFormat(
      "the device cannot be given access to this memory; raise the limit of locked memory (ulimit "
      "-l unlimited). DPDK says: %s",
      TakeEalLog()));
}

void UnmapForDevice(std::byte* base, const MappedMemory& mapped) {
  const Pages pages = PagesOf(base, mapped.size);
  const auto own = reinterpret_cast<uint64_t>(pages.base);
  const uint64_t iova = mapped.iova - (reinterpret_cast<uint64_t>(base) - own);
  (void)rte_dev_dma_unmap(mapped.device, pages.base, iova, pages.size);
  (void)rte_extmem_unregister(pages.base, pages.size);
  if (iova != own) TheNarrow().GiveBack(iova);
}

}  // namespace weir
