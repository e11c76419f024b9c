// Memory of the application made readable to a device that reads memory by itself.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"

namespace weir {

// Whether the device finds memory by the addresses that the process uses.
bool ReadsByProcessAddress(uint16_t ethdev);

// Memory as a device has access to it.
struct MappedMemory {
  size_t size = 0;
  uint64_t iova = 0;  // where the device finds its first byte
};
// All pages that [base, base + size) touches. Nothing is to be done for virtual devices, which are
// not to be passed here.
absl::StatusOr<MappedMemory> MapForDevice(uint16_t ethdev, std::byte* base, size_t size);
void UnmapForDevice(uint16_t ethdev, std::byte* base, const MappedMemory& mapped);

}  // namespace weir
