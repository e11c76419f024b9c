// Messages on their way out and in, and the memory that peers may write to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datapath/pool.h"

namespace weir {

// Longest message. Larger transfers are several messages.
inline constexpr uint32_t kMessageMax = 0xFFFF'0000;

// A message between its posting and its last acknowledgement.
struct TxMessage {
  uint32_t next = 0;  // Pool; among the connection's open messages, in the order posted
  uint32_t prev = 0;
  uint32_t number = 0;
  const std::byte* data = nullptr;  // nullptr: content does not matter
  uint32_t length = 0;
  uint32_t pieces = 0;       // packets it takes, >= 1
  uint32_t pieces_sent = 0;  // at least once
  uint32_t pieces_acked = 0;
  uint32_t target = 0;   // region (write) or ordinal among the sends
  uint64_t address = 0;  // in the region
  uint64_t cookie = 0;
  bool write = false;
  bool notify = false;
};

// A buffer posted for a send of the peer, or a notifying write of several packets that has begun.
struct RxMessage {
  uint32_t next = 0;          // Pool
  uint32_t key = 0;           // ordinal (buffer) or message number (write)
  std::byte* data = nullptr;  // nullptr: content does not matter
  uint32_t capacity = 0;      // of the buffer
  uint32_t length = 0;        // of the message; known from its first packet
  uint32_t arrived = 0;       // bytes
  uint64_t cookie = 0;
  bool begun = false;
};

// Memory that peers may write to. Without `base` the content does not matter: bytes are counted
// and checked against `size`, and placed nowhere.
struct Region {
  std::byte* base = nullptr;
  uint64_t size = 0;
  bool open = false;
};

// A message as the application posts it.
struct SendRequest {
  const std::byte* data = nullptr;  // kept until kSent; nullptr: content does not matter
  uint32_t length = 0;              // [0, kMessageMax]
  uint64_t cookie = 0;
};
struct WriteRequest {
  const std::byte* data = nullptr;
  uint32_t length = 0;
  uint32_t region = 0;   // the peer's
  uint64_t address = 0;  // offset in it
  bool notify = false;   // complete at the peer, too
  uint64_t cookie = 0;
};
struct ReceiveRequest {
  std::byte* data = nullptr;
  uint32_t capacity = 0;
  uint64_t cookie = 0;
};

}  // namespace weir
