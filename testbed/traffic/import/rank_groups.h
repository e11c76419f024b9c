// A program that is the same on every rank, over groups of ranks that are alike.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "testbed/traffic/workload.h"

namespace weir {

class RankGroups {
 public:
  RankGroups(uint32_t ranks, std::string name) : writer_(std::move(name), ranks) {}

  WorkloadWriter& writer() { return writer_; }

  // Every rank calls it within its group of `members`: consecutive ranks, or, strided, ranks that
  // are ranks/members apart. Compute waits for it, and it for compute, unless it is `overlapped`.
  absl::Status Call(CollectiveCall call, uint32_t members, bool strided, bool overlapped = false);
  void Compute(Duration length);
  void EndStep();

 private:
  // A communicator for each group.
  const std::vector<uint32_t>& GroupsOf(uint32_t members, bool strided);

  WorkloadWriter writer_;
  std::map<std::pair<uint32_t, bool>, std::vector<uint32_t>> groups_;
};

}  // namespace weir
