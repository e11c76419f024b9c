// The receive half of a connection over queue pairs: when all of a message is there.
//
// The device has placed the bytes; each chunk tells of which message it is and how many chunks that
// has, in immediate data, and chunks of different messages arrive in any order.
#pragma once

#include <array>
#include <cstdint>

#include "datapath/offload/chunk_word.h"

namespace weir {

class ChunkReceiver {
 public:
  enum class Result : uint8_t { kMore, kWhole, kNonsense };
  struct Whole {
    uint32_t message = 0;  // number, counted on where the word's wraps
    uint64_t bytes = 0;
  };

  // A chunk with `word.chunks` > 0. Sets `whole` when the last of a message has come. Nonsense:
  // more messages at a time than there may be, or a message that changed its length.
  Result Add(ChunkWord word, uint32_t bytes, Whole& whole) {
    Open& open = open_[word.message % kChunkedMessagesOpen];
    if (open.arrived == 0) open = {.message = word.message, .chunks = word.chunks};
    if (open.message != word.message || open.chunks != word.chunks) return Result::kNonsense;
    open.bytes += bytes;
    if (++open.arrived < open.chunks) return Result::kMore;
    whole = {.message = Unwrap(word.message), .bytes = open.bytes};
    open = {};
    return Result::kWhole;
  }

 private:
  // Of the numbers that end in these 16 bits the one next to the newest.
  uint32_t Unwrap(uint16_t number) {
    const auto ahead = static_cast<int16_t>(number - static_cast<uint16_t>(newest_));
    const uint32_t whole = newest_ + static_cast<uint32_t>(int32_t{ahead});
    if (ahead > 0) newest_ = whole;
    return whole;
  }

  struct Open {
    uint16_t message = 0;
    uint16_t chunks = 0;
    uint32_t arrived = 0;  // 0: not in use
    uint64_t bytes = 0;
  };
  std::array<Open, kChunkedMessagesOpen> open_{};
  uint32_t newest_ = 0;
};

}  // namespace weir
