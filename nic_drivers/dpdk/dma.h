// Memory of the application made readable to a device that reads memory by itself.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"

namespace weir {

// Whether the device finds memory by the addresses that the process uses.
bool ReadsByProcessAddress(uint16_t ethdev);

// All pages that [base, base + size) touches. Nothing is to be done for virtual devices, which are
// not to be passed here.
absl::Status MapForDevice(uint16_t ethdev, std::byte* base, size_t size);
void UnmapForDevice(uint16_t ethdev, std::byte* base, size_t size);

}  // namespace weir
