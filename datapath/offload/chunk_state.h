// What all connections of one chunk endpoint share.
#pragma once

#include "datapath/completion.h"
#include "datapath/messages.h"
#include "datapath/offload/chunk_port.h"

namespace weir {

// What a chunk endpoint counts. Every counter only grows; units are chunks or bytes.
struct ChunkCounters {
  uint64_t chunks_sent = 0;
  uint64_t bytes_sent = 0;  // payload
  uint64_t chunks_done = 0;
  uint64_t chunks_received = 0;  // that the peer told of
  uint64_t bytes_received = 0;
  uint64_t probes_sent = 0;
  uint64_t pair_full = 0;       // times a chunk waited for room in its queue pair
  uint64_t records_short = 0;   // times a chunk waited since chunks_max were on their way
  uint64_t rtt_rejected = 0;    // completions that were polled late, or before they were sent
  uint64_t strange_events = 0;  // of the port: of no chunk or link that there is
  uint64_t clock_steps_back = 0;
};

// A chunk handed to the device.
struct ChunkRecord {
  enum class Kind : uint8_t { kFree, kData, kProbe, kLast };
  uint32_t next = 0;  // Pool
  uint32_t use = 0;   // of the record: a completion of an earlier use is told apart
  Kind kind = Kind::kFree;
  PathId path = 0;
  LinkId link = 0;
  uint32_t message = 0;  // in the pool
  uint32_t send_seq = 0;
  Bytes size{};  // on the wire
  Time sent{};
};

struct ChunkState {
  ChunkState(uint32_t messages_max, uint32_t chunks_max, uint32_t completions_max)
      : messages(messages_max), records(chunks_max), completions(completions_max) {}

  Pool<TxMessage> messages;
  Pool<ChunkRecord> records;
  CompletionQueue completions;
  ChunkCounters counters;
  Duration late_max{};  // a completion that may be so much older than its time gives no RTT
};

}  // namespace weir
