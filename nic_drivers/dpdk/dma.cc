#include "nic_drivers/dpdk/dma.h"

#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_memory.h>

#include <string>

#include "absl/strings/str_format.h"

namespace weir {
namespace {

constexpr uintptr_t kPage = 4096;

struct Pages {
  void* base;
  size_t size;
};
Pages PagesOf(const std::byte* base, size_t size) {
  const auto from = reinterpret_cast<uintptr_t>(base) & ~(kPage - 1);
  const auto to = (reinterpret_cast<uintptr_t>(base) + size + kPage - 1) & ~(kPage - 1);
  return {reinterpret_cast<void*>(from), to - from};
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

absl::Status MapForDevice(uint16_t ethdev, std::byte* base, size_t size) {
  const Pages pages = PagesOf(base, size);
  if (rte_extmem_register(pages.base, pages.size, nullptr, 0, kPage) != 0) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "memory cannot be registered with DPDK (%s); registered regions share no page",
        rte_strerror(rte_errno)));
  }
  const auto iova = reinterpret_cast<uint64_t>(pages.base);
  if (rte_dev_dma_map(DeviceOf(ethdev), pages.base, iova, pages.size) == 0) {
    return absl::OkStatus();
  }
  const int error = rte_errno;
  (void)rte_extmem_unregister(pages.base, pages.size);
  return absl::FailedPreconditionError(absl::StrFormat(
      "the device cannot be given access to this memory (%s); raise the limit of locked memory "
      "(ulimit -l unlimited)",
      rte_strerror(error)));
}

void UnmapForDevice(uint16_t ethdev, std::byte* base, size_t size) {
  const Pages pages = PagesOf(base, size);
  const auto iova = reinterpret_cast<uint64_t>(pages.base);
  (void)rte_dev_dma_unmap(DeviceOf(ethdev), pages.base, iova, pages.size);
  (void)rte_extmem_unregister(pages.base, pages.size);
}

}  // namespace weir
