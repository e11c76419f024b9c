// What messages of an exchange are filled with.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weir {

// Depends on the message and on who sends it, so that one cannot pass for another.
inline std::byte PatternByte(uint32_t message, bool from_a, size_t i) {
  const uint32_t seed = message + (from_a ? 0 : 1000);
  return static_cast<std::byte>((seed * 131 + i * 7 + i / 251) & 0xFF);
}

}  // namespace weir
