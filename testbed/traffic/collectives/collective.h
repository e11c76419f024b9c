// Collectives as NCCL 2.30 runs them (github.com/NVIDIA/nccl, commit 5067397): algorithms,
// channels, chunks and slices. Sizes and factors as nccl-tests counts them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "testbed/traffic/collectives/plan.h"

namespace weir {

enum class CollectiveKind : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kBarrier,
};
inline constexpr int kCollectiveKinds = 9;
const char* Name(CollectiveKind kind);  // "all_reduce", "alltoall", as nccl-tests
bool HasRoot(CollectiveKind kind);

enum class CollectiveAlgorithm : uint8_t {
  kAuto,             // all-to-all: shifted; rooted: binomial or direct; else NCCL's choice by size
  kRing,             // all-reduce, all-gather, reduce-scatter, broadcast, reduce
  kTree,             // all-reduce over two binary trees, half of the data on each
  kHalvingDoubling,  // all-reduce, all-gather, reduce-scatter; a power of two ranks
  kPat,              // all-gather, reduce-scatter: parallel aggregated trees
  kHierarchical,     // all-reduce, all-gather, reduce-scatter: in the node, then along each rail
  kShifted,          // all-to-all: in each round all ranks send to one distance
  kPxn,              // all-to-all: moved within the node to the NIC on the receiver's rail
  kDirect,           // all-to-all, gather, scatter: everything at once
  kBinomial,         // broadcast, reduce
};
inline constexpr int kCollectiveAlgorithms = 10;
const char* Name(CollectiveAlgorithm algorithm);

// How much goes in one piece. What a rank passes on is cut into chunks, one a step; what the
// network gets at once is a slice.
struct Protocol {
  std::string name;
  Bytes chunk{};          // of a ring step
  Bytes slice{};          // at most
  Bytes slice_floor{};    // at least, but for the rest
  double efficiency = 1;  // payload a byte on the wire
  bool whole = false;     // zero copy: a step is one message, as long as messages can be
};
Protocol SimpleProtocol();  // chunks of 2 MiB, slices of 1 MiB
Protocol LL128Protocol();   // 120 of 128 bytes are payload
Protocol LLProtocol();      // 8 of 16 bytes are payload
Protocol WholeProtocol();
// NCCL's rule of thumb: LL below 64 KiB, LL128 to 2 MiB, Simple above.
Protocol ProtocolFor(Bytes size);

struct CollectiveShape {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::kAuto;
  uint32_t ranks = 2;
  uint32_t ranks_per_node = 1;  // consecutive ranks share a node
  Bytes size{};                 // S of nccl-tests, see SizeOf
  uint32_t channels = 1;
  Protocol protocol = SimpleProtocol();
  uint32_t root = 0;              // of the rooted ones
  uint32_t concurrent_peers = 8;  // of shifted and PXN all-to-all
  // Of an uneven all-to-all: bytes from rank i to rank j at [i * ranks + j]; empty: all alike.
  std::vector<Bytes> matrix;
};

// Why this cannot be: "all_reduce by halving_doubling: needs a power of two ranks, not 12".
absl::Status CheckCollective(const CollectiveShape& shape);
// The messages of one that can be.
absl::StatusOr<Plan> PlanCollective(const CollectiveShape& shape);
// What kAuto stands for.
CollectiveAlgorithm AlgorithmFor(const CollectiveShape& shape);

// Bus bandwidth over algorithm bandwidth, as nccl-tests' doc/PERFORMANCE.md derives it.
double BusFactor(CollectiveKind kind, uint32_t ranks);

// Of an all-to-all: the most that one rank sends to, or receives from, other nodes.
Bytes BusiestBytes(const CollectiveShape& shape);

// The least time on an idle network by the closed form of the algorithm: `latency` is of one small
// message from memory to memory, `nic` carries payload in one direction at that rate. What moves
// within a node is taken as free; 0 if all is.
Duration IdealCollective(const CollectiveShape& shape, Duration latency, Rate nic);

}  // namespace weir
