// What must hold of any workload, wherever it comes from.
#pragma once

#include <string>

#include "absl/strings/str_format.h"
#include "testbed/traffic/workload.h"

namespace weir {

// The first op, call or communicator that names something that there is not; empty: none does.
inline std::string Unsound(const Workload& w) {
  for (const Communicator& c : w.communicators) {
    for (const uint32_t rank : c.ranks) {
      if (rank >= w.ranks) return absl::StrFormat("communicator %s has rank %d", c.name, rank);
    }
  }
  for (size_t i = 0; i < w.calls.size(); ++i) {
    const CollectiveCall& c = w.calls[i];
    if (c.communicator >= w.communicators.size()) {
      return absl::StrFormat("call %d is of communicator %d", i, c.communicator);
    }
    if (c.size <= Bytes(0)) return absl::StrFormat("call %d is of %d bytes", i, c.size.count());
  }
  for (size_t i = 0; i < w.ops.size(); ++i) {
    const WorkOp& op = w.ops[i];
    if (op.rank >= w.ranks) return absl::StrFormat("op %d is of rank %d", i, op.rank);
    for (const uint32_t before : op.after) {
      if (before >= w.ops.size()) return absl::StrFormat("op %d waits for op %d", i, before);
    }
    if (op.kind == WorkOp::Kind::kCollective && op.call >= w.calls.size()) {
      return absl::StrFormat("op %d is of call %d", i, op.call);
    }
    const bool message = op.kind == WorkOp::Kind::kSend || op.kind == WorkOp::Kind::kRecv;
    if (message && op.peer >= w.ranks) return absl::StrFormat("op %d is with rank %d", i, op.peer);
    if (message && op.size <= Bytes(0)) {
      return absl::StrFormat("op %d is of %d bytes", i, op.size.count());
    }
    if (op.length < Duration(0)) return absl::StrFormat("op %d takes %d ns", i, op.length.count());
  }
  return "";
}

}  // namespace weir
