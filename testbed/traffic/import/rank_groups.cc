#include "testbed/traffic/import/rank_groups.h"

#include "absl/strings/str_format.h"

namespace weir {
namespace {

constexpr uint32_t kOverlapped = 2;  // stream

}  // namespace

const std::vector<uint32_t>& RankGroups::GroupsOf(uint32_t members, bool strided) {
  std::vector<uint32_t>& groups = groups_[{members, strided}];
  if (!groups.empty()) return groups;
  const uint32_t count = writer_.ranks() / members;
  for (uint32_t g = 0; g < count; ++g) {
    std::vector<uint32_t> ranks;
    for (uint32_t i = 0; i < members; ++i) {
      ranks.push_back(strided ? g + i * count : g * members + i);
    }
    groups.push_back(writer_.AddCommunicator(std::move(ranks)));
  }
  return groups;
}

absl::Status RankGroups::Call(CollectiveCall call, uint32_t members, bool strided,
                              bool overlapped) {
  if (members < 2 || writer_.ranks() % members != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d ranks do not divide into groups of %d", writer_.ranks(), members));
  }
  const std::vector<uint32_t>& groups = GroupsOf(members, strided);
  std::vector<uint32_t> calls;
  for (const uint32_t group : groups) {
    call.communicator = group;
    calls.push_back(writer_.AddCall(call));
  }
  const uint32_t count = static_cast<uint32_t>(groups.size());
  for (uint32_t rank = 0; rank < writer_.ranks(); ++rank) {
    const uint32_t stream = overlapped ? kOverlapped : WorkloadWriter::kComm;
    writer_.AwaitStream(rank, stream, WorkloadWriter::kCompute);
    writer_.Call(rank, calls[strided ? rank % count : rank / members], stream);
    if (!overlapped) writer_.AwaitStream(rank, WorkloadWriter::kCompute, WorkloadWriter::kComm);
  }
  return absl::OkStatus();
}

void RankGroups::Compute(Duration length) {
  for (uint32_t rank = 0; rank < writer_.ranks(); ++rank) writer_.Compute(rank, length);
}

void RankGroups::EndStep() {
  for (uint32_t rank = 0; rank < writer_.ranks(); ++rank) writer_.EndStep(rank);
}

}  // namespace weir
