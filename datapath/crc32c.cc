#include <array>
#include <cstring>

#include "datapath/wire.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace weir {
namespace {

constexpr uint32_t kPolynomial = 0x82F63B78;  // Castagnoli, reflected

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    table[i] = crc;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kTable = MakeTable();

uint32_t ByTable(uint32_t crc, const std::byte* p, size_t n) {
  for (; n > 0; --n, ++p) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<uint8_t>(*p)) & 0xFF];
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t ByInstruction(uint32_t crc, const std::byte* p,
                                                         size_t n) {
  uint64_t wide = crc;
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    wide = _mm_crc32_u64(wide, word);
  }
  crc = static_cast<uint32_t>(wide);
  for (; n > 0; --n, ++p) crc = _mm_crc32_u8(crc, static_cast<uint8_t>(*p));
  return crc;
}
const bool kHaveInstruction = __builtin_cpu_supports("sse4.2") != 0;
#endif

}  // namespace

uint32_t Crc32c(uint32_t crc, std::span<const std::byte> bytes) {
#if defined(__x86_64__)
  if (kHaveInstruction) return ~ByInstruction(~crc, bytes.data(), bytes.size());
#endif
  return Crc32cByTable(crc, bytes);
}

uint32_t Crc32cByTable(uint32_t crc, std::span<const std::byte> bytes) {
  return ~ByTable(~crc, bytes.data(), bytes.size());
}

}  // namespace weir
