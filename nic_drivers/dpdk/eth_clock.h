// The clock of a device, where it has one that can be read.
#pragma once

#include <cstdint>

namespace weir {

// False: it cannot be read.
bool ReadEthClock(uint16_t ethdev, uint64_t& ticks);

}  // namespace weir
