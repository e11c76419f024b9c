// Memory of the application made readable to a device that reads memory by itself.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"

struct rte_device;

namespace weir {

// Whether the device finds memory by the addresses that the process uses.
bool ReadsByProcessAddress(uint16_t ethdev);

// Memory as a device has access to it.
struct MappedMemory {
  size_t size = 0;
  uint64_t iova = 0;             // where the device finds its first byte
  rte_device* device = nullptr;  // DPDK's; it outlives its Ethernet device
};
// All pages that [base, base + size) touches. Nothing is to be done for virtual devices, which are
// not to be passed here.
absl::StatusOr<MappedMemory> MapForDevice(uint16_t ethdev, std::byte* base, size_t size);
// Not while frames that refer to it may be on their way: what the device reads instead is sent.
void UnmapForDevice(std::byte* base, const MappedMemory& mapped);

}  // namespace weir
