// Messages on their way out and in, and the memory that peers may write to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
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

// Takes bytes where they arrived, in the port's own buffers, instead of having them placed. Called
// by the thread that polls, once for each packet, in the order of arrival, and returns soon.
// `offset` is in the message or in the region. The bytes are gone when it returns; `bytes` is
// nullptr where the content does not matter (virtual time).
struct InPlace {
  void (*take)(void* argument, uint64_t offset, const void* bytes, size_t size) = nullptr;
  void* argument = nullptr;
};

// Where what arrives is to go: into memory, or to someone who takes it in place; or nowhere.
struct RxTarget {
  std::byte* memory = nullptr;
  InPlace in_place{};

  // Says two things at once.
  bool both() const { return memory != nullptr && in_place.take != nullptr; }
  void Put(uint64_t offset, std::span<const std::byte> bytes) const {
    if (in_place.take != nullptr) {
      return in_place.take(in_place.argument, offset, bytes.data(), bytes.size());
    }
    if (memory == nullptr || bytes.data() == nullptr || bytes.empty()) return;
    std::memcpy(memory + offset, bytes.data(), bytes.size());
  }
};

// A buffer posted for a send of the peer, or a notifying write of several packets that has begun.
struct RxMessage {
  uint32_t next = 0;  // Pool
  uint32_t key = 0;   // ordinal (buffer) or message number (write)
  RxTarget to{};
  uint32_t capacity = 0;  // of the buffer
  uint32_t length = 0;    // of the message; known from its first packet
  uint32_t arrived = 0;   // bytes
  uint64_t cookie = 0;
  bool begun = false;
};

// Memory that peers may write to. What is written is counted and checked against `size`, also
// where it is placed nowhere.
struct Region {
  RxTarget to{};
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
  std::byte* data = nullptr;  // nullptr: content does not matter, or is taken in place
  uint32_t capacity = 0;
  uint64_t cookie = 0;
  InPlace in_place{};
};

}  // namespace weir
