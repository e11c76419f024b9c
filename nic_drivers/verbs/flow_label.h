// The flow label of a path's packets.
#pragma once

#include <cstdint>

namespace weir {

// 20 bits, any but 0, which leaves the choice to the device.
constexpr uint32_t FlowLabelOfPath(uint32_t path) { return (path + 1) * 0x9E37u & 0xFFFFF; }

}  // namespace weir
