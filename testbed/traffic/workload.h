// What a job does, rank by rank: compute, collectives, sends and receives, and which waits for
// which. Importers and templates make these; expand.h turns them into traffic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "testbed/traffic/collectives/collective.h"

namespace weir {

// Ranks of a job that call collectives together, in their order.
struct Communicator {
  std::string name;
  std::vector<uint32_t> ranks;
};

// One collective of one communicator. Every member rank comes to it once.
struct CollectiveCall {
  uint32_t communicator = 0;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::kAuto;
  Bytes size{};               // S of nccl-tests; a barrier's is not used
  uint32_t root = 0;          // position in the communicator
  std::vector<Bytes> matrix;  // of an uneven all-to-all, see CollectiveShape
  std::string name;           // "" : that of the kind
};

struct WorkOp {
  enum class Kind : uint8_t {
    kCompute,     // keeps the rank busy for `length`
    kCollective,  // the rank's part of call `call`
    kSend,        // `size` to `peer`, done when acknowledged
    kRecv,        // `size` from `peer`, done when there
    kJoin,        // nothing: waits for `after`
    kStep,        // the end of a step of this rank
  };
  Kind kind = Kind::kJoin;
  uint32_t rank = 0;
  Duration length{};
  uint32_t call = 0;
  uint32_t peer = 0;
  uint32_t tag = 0;  // a send meets the receive of the same pair and tag, in order
  Bytes size{};
  Duration earliest{};          // after the job's start
  std::vector<uint32_t> after;  // earlier ops that must be done
};

struct Workload {
  std::string name;
  uint32_t ranks = 0;
  std::vector<Communicator> communicators;
  std::vector<CollectiveCall> calls;
  std::vector<WorkOp> ops;  // what an op waits for comes before it
  // What an importer found and could not use, in words, each with how often.
  std::vector<std::string> unused;
};

// Writes the programs of ranks, each with streams whose ops follow one another.
class WorkloadWriter {
 public:
  static constexpr uint32_t kCompute = 0;  // streams
  static constexpr uint32_t kComm = 1;
  static constexpr uint32_t kStreams = 6;

  WorkloadWriter(std::string name, uint32_t ranks);

  uint32_t AddCommunicator(std::vector<uint32_t> ranks, std::string name = {});
  // All ranks of the job; made when first asked for.
  uint32_t World();
  uint32_t AddCall(CollectiveCall call);

  // Each appends to a stream of a rank and returns the op.
  uint32_t Compute(uint32_t rank, Duration length, uint32_t stream = kCompute);
  uint32_t Call(uint32_t rank, uint32_t call, uint32_t stream = kComm);
  uint32_t Send(uint32_t rank, uint32_t peer, Bytes size, uint32_t tag, uint32_t stream = kComm);
  uint32_t Recv(uint32_t rank, uint32_t peer, Bytes size, uint32_t tag, uint32_t stream = kComm);
  // A transfer that only `rank`, one of its ends, waits for; the other end is always ready.
  uint32_t Transfer(uint32_t rank, uint32_t stream, uint32_t from, uint32_t to, Bytes size,
                    uint32_t tag);
  // The next op of `stream` waits for `op`, too.
  void Await(uint32_t rank, uint32_t stream, uint32_t op);
  // The next op of stream `to` waits for all that `from` has.
  void AwaitStream(uint32_t rank, uint32_t to, uint32_t from);
  // The next op of a stream begins no earlier.
  void NotBefore(uint32_t rank, uint32_t stream, Duration earliest);
  // Ends a step of a rank when all of its streams have come so far; they go on from there.
  void EndStep(uint32_t rank);

  uint32_t ranks() const { return workload_.ranks; }
  Workload Take() { return std::move(workload_); }

 private:
  struct Stream {
    uint32_t last = kNone;
    Duration earliest{};
    std::vector<uint32_t> awaited;
  };
  static constexpr uint32_t kNone = 0xFFFF'FFFF;

  Stream& At(uint32_t rank, uint32_t stream) { return streams_[rank * kStreams + stream]; }
  uint32_t Append(uint32_t stream, WorkOp op);
  uint32_t Message(WorkOp::Kind kind, uint32_t rank, uint32_t peer, Bytes size, uint32_t tag,
                   uint32_t stream);

  Workload workload_;
  std::vector<Stream> streams_;
  uint32_t world_ = kNone;
};

}  // namespace weir
