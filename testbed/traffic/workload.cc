#include "testbed/traffic/workload.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace weir {

WorkloadWriter::WorkloadWriter(std::string name, uint32_t ranks)
    : streams_(static_cast<size_t>(ranks) * kStreams) {
  workload_.name = std::move(name);
  workload_.ranks = ranks;
}

uint32_t WorkloadWriter::AddCommunicator(std::vector<uint32_t> ranks, std::string name) {
  workload_.communicators.push_back({.name = std::move(name), .ranks = std::move(ranks)});
  return static_cast<uint32_t>(workload_.communicators.size() - 1);
}

uint32_t WorkloadWriter::World() {
  if (world_ == kNone) {
    std::vector<uint32_t> all(workload_.ranks);
    std::iota(all.begin(), all.end(), 0u);
    world_ = AddCommunicator(std::move(all), "world");
  }
  return world_;
}

uint32_t WorkloadWriter::AddCall(CollectiveCall call) {
  workload_.calls.push_back(std::move(call));
  return static_cast<uint32_t>(workload_.calls.size() - 1);
}

uint32_t WorkloadWriter::Append(uint32_t stream, WorkOp op) {
  const uint32_t index = static_cast<uint32_t>(workload_.ops.size());
  Stream& s = At(op.rank, stream);
  op.after = std::exchange(s.awaited, {});
  if (s.last != kNone) op.after.push_back(s.last);
  op.earliest = std::exchange(s.earliest, {});
  s.last = index;
  workload_.ops.push_back(std::move(op));
  return index;
}

uint32_t WorkloadWriter::Compute(uint32_t rank, Duration length, uint32_t stream) {
  return Append(stream,
                {.kind = WorkOp::Kind::kCompute, .rank = rank, .length = length, .after = {}});
}
uint32_t WorkloadWriter::Call(uint32_t rank, uint32_t call, uint32_t stream) {
  return Append(stream,
                {.kind = WorkOp::Kind::kCollective, .rank = rank, .call = call, .after = {}});
}
uint32_t WorkloadWriter::Message(WorkOp::Kind kind, uint32_t rank, uint32_t peer, Bytes size,
                                 uint32_t tag, uint32_t stream) {
  return Append(stream,
                {.kind = kind, .rank = rank, .peer = peer, .tag = tag, .size = size, .after = {}});
}
uint32_t WorkloadWriter::Send(uint32_t rank, uint32_t peer, Bytes size, uint32_t tag,
                              uint32_t stream) {
  return Message(WorkOp::Kind::kSend, rank, peer, size, tag, stream);
}
uint32_t WorkloadWriter::Recv(uint32_t rank, uint32_t peer, Bytes size, uint32_t tag,
                              uint32_t stream) {
  return Message(WorkOp::Kind::kRecv, rank, peer, size, tag, stream);
}

uint32_t WorkloadWriter::Transfer(uint32_t rank, uint32_t stream, uint32_t from, uint32_t to,
                                  Bytes size, uint32_t tag) {
  const bool sends = rank == from;
  const uint32_t other = sends ? to : from;
  const uint32_t op =
      sends ? Send(rank, other, size, tag, stream) : Recv(rank, other, size, tag, stream);
  WorkOp mirror = workload_.ops[op];
  mirror.kind = sends ? WorkOp::Kind::kRecv : WorkOp::Kind::kSend;
  mirror.rank = other;
  mirror.peer = rank;
  workload_.ops.push_back(std::move(mirror));
  return op;
}

void WorkloadWriter::Await(uint32_t rank, uint32_t stream, uint32_t op) {
  At(rank, stream).awaited.push_back(op);
}
void WorkloadWriter::AwaitStream(uint32_t rank, uint32_t to, uint32_t from) {
  if (At(rank, from).last != kNone) Await(rank, to, At(rank, from).last);
}
void WorkloadWriter::NotBefore(uint32_t rank, uint32_t stream, Duration earliest) {
  At(rank, stream).earliest = std::max(At(rank, stream).earliest, earliest);
}

void WorkloadWriter::EndStep(uint32_t rank) {
  for (uint32_t other = 1; other < kStreams; ++other) AwaitStream(rank, 0, other);
  const uint32_t end = Append(0, {.kind = WorkOp::Kind::kStep, .rank = rank, .after = {}});
  for (uint32_t other = 1; other < kStreams; ++other) {
    Stream& s = At(rank, other);
    s.last = end;
  }
}

}  // namespace weir
