// A seeded generator: the same numbers on every machine and compiler.
#pragma once

#include <cstdint>

#include "datapath/api/units.h"

namespace weir {

// Mixes 64 bits so that each input bit reaches every output bit. Source: SplitMix64 finalizer,
// Steele, Lea, Flood, OOPSLA 2014.
constexpr uint64_t Mix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// SplitMix64: eight bytes of state, so a plug-in can afford one. Not for cryptography.
class Rng {
 public:
  explicit constexpr Rng(uint64_t seed) : state_(Mix64(seed)) {}

  constexpr uint64_t Next() {
    state_ += 0x9E3779B97F4A7C15u;
    uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
  }
  // Uniform in [0, n); `n` > 0. The bias of n / 2^32 is below any use here.
  constexpr uint32_t Below(uint32_t n) {
    return static_cast<uint32_t>(((Next() >> 32) * n) >> 32);
  }
  // Uniform in [0, 1), 53 bits.
  constexpr double Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  constexpr bool Chance(double p) { return Unit() < p; }

 private:
  uint64_t state_;
};

}  // namespace weir
