// The immediate data of a chunk: of which message it is, and how many chunks that has. From it the
// receiver knows when all of a message is there, in whatever order its chunks came over the paths.
#pragma once

#include <cstdint>

namespace weir {

// Messages of a connection that may be incomplete at a time, at the sender and so at the receiver.
inline constexpr uint32_t kChunkedMessagesOpen = 256;
// Chunks of a message, at most.
inline constexpr uint32_t kChunksMax = 0xFFFF;

struct ChunkWord {
  // Said instead of a number of messages where there are no chunks.
  static constexpr uint16_t kClose = 0;
  static constexpr uint16_t kAbort = 1;

  uint16_t message = 0;  // counts, wraps
  uint16_t chunks = 0;   // of the message; 0: none, the sender has no more to say

  constexpr uint32_t Encode() const { return uint32_t{message} << 16 | chunks; }
  static constexpr ChunkWord Decode(uint32_t word) {
    return {.message = static_cast<uint16_t>(word >> 16), .chunks = static_cast<uint16_t>(word)};
  }
};

}  // namespace weir
