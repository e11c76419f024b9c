// What a client of `weir perf` and `weir serve` tell each other before they measure: one message
// each way, as sends.
#pragma once

#include <cstdint>
#include <cstring>

namespace weir {

enum class PerfKind : uint32_t {
  kWrite = 1,  // the client writes into the server's region; the server looks on
  kSend = 2,   // the client sends, the server posts receives
  kEcho = 3,   // the client sends, the server sends the same number of bytes back
};

inline constexpr uint32_t kPerfMagic = 0x57505246;  // "WPRF"
inline constexpr uint32_t kPerfVersion = 1;

// Both hosts are little-endian (checked by the magic number).
struct PerfHello {
  uint32_t magic = kPerfMagic;
  uint32_t version = kPerfVersion;
  PerfKind kind = PerfKind::kWrite;
  uint32_t depth = 0;   // messages under way at once
  uint64_t length = 0;  // bytes of a message
};
struct PerfReady {
  uint32_t magic = kPerfMagic;
  uint32_t region = 0;    // to write to
  uint64_t capacity = 0;  // its bytes; less than `length`: refused
};

}  // namespace weir
