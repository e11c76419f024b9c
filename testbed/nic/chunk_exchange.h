// Two hosts write messages of many sizes to each other over two devices in RDMA mode, and every
// byte is compared. Both are polled by the caller's thread, in turn.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "datapath/offload/chunk_endpoint.h"
#include "nic_drivers/chunk_device.h"

namespace weir {

struct ChunkExchangeOptions {
  // Of the connections that A opens, all at once; B answers by the first one's. Not empty.
  std::vector<Binding> bindings{};
  uint32_t chunk_bytes = 64 * 1024;
  uint32_t large = 1 << 20;           // bytes of the largest message
  Rate line_rate{};                   // 0: the devices'
  Duration base_rtt = Millis(10);     // both hosts take turns on one core
  std::chrono::seconds time_max{20};  // for all of it
};

struct ChunkExchangeResult {
  std::string problem;  // empty: every byte arrived once told, everything was closed
  uint64_t bytes = 0;   // of messages, both ways
  double seconds = 0;
  uint64_t chunks = 0;
  std::vector<uint32_t> paths{};  // of each connection: queue pairs in use
  Duration rtt_min{};             // of the first connection's chunks; 0: none was measured
  uint64_t late = 0;              // completions that were polled too late to be measured
};

// Runs one to its end.
ChunkExchangeResult RunChunkExchange(ChunkDevice& a, ChunkDevice& b,
                                     const ChunkExchangeOptions& options);

struct ChunkLossResult {
  std::string problem;  // empty: the connection ended, with a cause
  Cause cause = Cause::kNone;
  double seconds = 0;  // after the loss
};

// A opens a connection, `lose` takes away what it runs over, and A writes.
ChunkLossResult LoseChunkLink(ChunkDevice& a, ChunkDevice& b, const Binding& binding,
                              const std::function<absl::Status()>& lose);

}  // namespace weir
