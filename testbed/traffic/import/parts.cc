#include "testbed/traffic/import/parts.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "absl/strings/str_format.h"

namespace weir {

std::vector<std::string> Unused::Lines() const {
  std::vector<std::string> lines;
  for (const auto& [what, count] : counts_) {
    lines.push_back(absl::StrFormat("%s (%d times)", what, count));
  }
  return lines;
}

absl::Status BadFile(const std::string& file, const std::string& what) {
  return absl::InvalidArgumentError(file + ": " + what);
}

std::optional<int64_t> WholeNumber(const std::string& text, int64_t min, int64_t max) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || value < min || value > max) return std::nullopt;
  return value;
}

std::optional<CollectiveKind> CollectiveNamed(const std::string& name) {
  std::string plain;
  for (const char c : name) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  for (const std::string ending : {"base", "intotensor", "tensor", "coalesced", "single", "v"}) {
    if (plain.size() > ending.size() &&
        plain.compare(plain.size() - ending.size(), ending.size(), ending) == 0) {
      plain.resize(plain.size() - ending.size());
    }
  }
  static const std::map<std::string, CollectiveKind> kinds = {
      {"allreduce", CollectiveKind::kAllReduce},
      {"allgather", CollectiveKind::kAllGather},
      {"reducescatter", CollectiveKind::kReduceScatter},
      {"alltoall", CollectiveKind::kAllToAll},
      {"broadcast", CollectiveKind::kBroadcast},
      {"reduce", CollectiveKind::kReduce},
      {"gather", CollectiveKind::kGather},
      {"scatter", CollectiveKind::kScatter},
      {"barrier", CollectiveKind::kBarrier},
  };
  const auto found = kinds.find(plain);
  if (found == kinds.end()) return std::nullopt;
  return found->second;
}

int64_t ElementBytes(const std::string& type) {
  static const std::map<std::string, int64_t> sizes = {
      {"float", 4},       {"float32", 4},   {"double", 8},        {"float64", 8},  {"half", 2},
      {"float16", 2},     {"bfloat16", 2},  {"long", 8},          {"long int", 8}, {"int64", 8},
      {"int", 4},         {"int32", 4},     {"short", 2},         {"int16", 2},    {"char", 1},
      {"signed char", 1}, {"int8", 1},      {"unsigned char", 1}, {"uint8", 1},    {"byte", 1},
      {"bool", 1},        {"c10::half", 2}, {"c10::bfloat16", 2}};
  std::string lower = type;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto found = sizes.find(lower);
  return found == sizes.end() ? 0 : found->second;
}

namespace {

// S of nccl-tests, of what the rank holds before and after.
Bytes SizeOf(CollectiveKind kind, Bytes in, Bytes out) {
  return kind == CollectiveKind::kAllGather || kind == CollectiveKind::kScatter ? std::max(in, out)
                                                                                : in;
}

class TraceJoiner {
 public:
  TraceJoiner(const std::string& name, uint32_t ranks, const std::vector<CommTrace>& traces,
              const std::map<std::string, std::vector<uint32_t>>& groups, Unused& unused)
      : writer_(name, ranks), ranks_(ranks), traces_(traces), groups_(groups), unused_(unused) {}

  absl::StatusOr<Workload> Join() {
    for (size_t i = traces_.size(); i < ranks_; ++i) {
      unused_.Add("rank without a trace, repeats another's");
    }
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      if (absl::Status bad = AddRank(rank); !bad.ok()) return bad;
    }
    Workload workload = writer_.Take();
    for (size_t call = 0; call < calls_.size(); ++call) {
      if (absl::Status bad = Finish(call, workload.calls[call], workload); !bad.ok()) return bad;
    }
    return workload;
  }

 private:
  struct Call {
    std::string group;
    std::vector<std::vector<Bytes>> splits;  // by member, if any has one
    bool uneven = false;
    uint32_t members = 0;
  };

  absl::Status AddRank(uint32_t rank) {
    const CommTrace& trace = traces_[rank % traces_.size()];
    std::map<std::string, size_t> nth;       // events of each group so far
    std::map<int64_t, uint32_t> by_request;  // op
    for (const CommEvent& event : trace.events) {
      if (!event.kind.has_value()) {
        const auto op = by_request.find(event.request);
        if (op == by_request.end()) {
          unused_.Add("wait for a request that is not in the trace");
        } else {
          writer_.Await(rank, WorkloadWriter::kComm, op->second);
        }
        continue;
      }
      const std::vector<uint32_t>& members = MembersOf(event.group);
      const auto me = std::find(members.begin(), members.end(), rank);
      if (me == members.end()) {
        unused_.Add("collective of a group that the rank is not in");
        continue;
      }
      const absl::StatusOr<uint32_t> call = CallOf(event, nth[event.group]++, trace.file);
      if (!call.ok()) return call.status();
      Call& c = calls_[*call];
      ++c.members;
      c.splits.resize(members.size());
      if (event.in_split.size() == members.size()) {
        c.splits[static_cast<size_t>(me - members.begin())] = event.in_split;
        c.uneven = true;
      } else if (!event.in_split.empty()) {
        unused_.Add("split of another length than the group");
      }
      writer_.NotBefore(rank, WorkloadWriter::kComm, event.earliest);
      const uint32_t op = writer_.Call(rank, *call);
      if (event.request >= 0) by_request[event.request] = op;
    }
    writer_.EndStep(rank);
    return absl::OkStatus();
  }

  const std::vector<uint32_t>& MembersOf(const std::string& group) {
    const auto found = groups_.find(group);
    if (found != groups_.end() && !found->second.empty()) return found->second;
    if (world_.empty()) {
      world_.resize(ranks_);
      std::iota(world_.begin(), world_.end(), 0u);
    }
    return world_;
  }

  // The n-th call of a group; made by the first rank that comes to it.
  absl::StatusOr<uint32_t> CallOf(const CommEvent& event, size_t n, const std::string& file) {
    std::vector<uint32_t>& calls = of_group_[event.group];
    const Bytes size = SizeOf(*event.kind, event.in, event.out);
    if (n < calls.size()) {
      if (kinds_[calls[n]] != *event.kind) {
        return BadFile(file,
                       absl::StrFormat("call %d of group \"%s\" is %s here and %s on another "
                                       "rank; the traces are not of one step",
                                       n, event.group, Name(*event.kind), Name(kinds_[calls[n]])));
      }
      return calls[n];
    }
    if (!communicators_.contains(event.group)) {
      communicators_[event.group] = writer_.AddCommunicator(MembersOf(event.group), event.group);
    }
    const uint32_t call = writer_.AddCall({.communicator = communicators_[event.group],
                                           .kind = *event.kind,
                                           .size = std::max(Bytes(1), size),
                                           .root = event.root,
                                           .matrix = {},
                                           .name = {}});
    calls.push_back(call);
    kinds_.push_back(*event.kind);
    calls_.push_back({.group = event.group, .splits = {}});
    return call;
  }

  absl::Status Finish(size_t index, CollectiveCall& call, const Workload& workload) {
    const Call& c = calls_[index];
    const size_t n = workload.communicators[call.communicator].ranks.size();
    if (c.members != n) {
      return BadFile(workload.name,
                     absl::StrFormat("only %d of %d ranks come to call %d, %s of group \"%s\"; the "
                                     "traces are not of one step, or some are missing",
                                     c.members, n, index, Name(call.kind), c.group));
    }
    if (call.root >= n) {
      return BadFile(workload.name,
                     absl::StrFormat("root %d of call %d is not in the group", call.root, index));
    }
    if (!c.uneven || call.kind != CollectiveKind::kAllToAll) return absl::OkStatus();
    if (n > 4096) return BadFile(workload.name, "an uneven all-to-all of over 4096 ranks");
    call.matrix.assign(n * n, Bytes(0));
    Bytes total{};
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < c.splits[i].size() && j < n; ++j) {
        if (i == j) continue;
        call.matrix[i * n + j] = c.splits[i][j];
        total += c.splits[i][j];
      }
    }
    if (total == Bytes(0)) call.matrix.clear();
    return absl::OkStatus();
  }

  WorkloadWriter writer_;
  uint32_t ranks_;
  const std::vector<CommTrace>& traces_;
  const std::map<std::string, std::vector<uint32_t>>& groups_;
  Unused& unused_;
  std::vector<uint32_t> world_;
  std::map<std::string, uint32_t> communicators_;
  std::map<std::string, std::vector<uint32_t>> of_group_;  // calls
  std::vector<CollectiveKind> kinds_;                      // by call
  std::vector<Call> calls_;
};

}  // namespace

absl::StatusOr<Workload> FromCommTraces(const std::string& name, uint32_t ranks,
                                        const std::vector<CommTrace>& traces,
                                        const std::map<std::string, std::vector<uint32_t>>& groups,
                                        Unused& unused) {
  if (ranks < 2 || ranks > kRanksMax) {
    return BadFile(name,
                   absl::StrFormat("has %d ranks; two are the least, %d the most (`ranks` sets "
                                   "their number where the file leaves it open)",
                                   ranks, kRanksMax));
  }
  for (const auto& [group, members] : groups) {
    for (const uint32_t rank : members) {
      if (rank >= ranks) {
        return BadFile(name,
                       absl::StrFormat("group \"%s\" has rank %d of %d ranks", group, rank, ranks));
      }
    }
  }
  absl::StatusOr<Workload> workload = TraceJoiner(name, ranks, traces, groups, unused).Join();
  if (!workload.ok()) return workload;
  if (workload->calls.empty()) return BadFile(name, "there is no collective in it");
  workload->unused = unused.Lines();
  return workload;
}

absl::Status CheckNoCycle(const Workload& workload) {
  std::vector<uint32_t> missing(workload.ops.size(), 0);
  std::vector<std::vector<uint32_t>> then(workload.ops.size());
  std::vector<uint32_t> ready;
  for (uint32_t i = 0; i < workload.ops.size(); ++i) {
    missing[i] = static_cast<uint32_t>(workload.ops[i].after.size());
    for (const uint32_t before : workload.ops[i].after) then[before].push_back(i);
    if (missing[i] == 0) ready.push_back(i);
  }
  size_t done = 0;
  while (!ready.empty()) {
    const uint32_t op = ready.back();
    ready.pop_back();
    ++done;
    for (const uint32_t next : then[op]) {
      if (--missing[next] == 0) ready.push_back(next);
    }
  }
  if (done == workload.ops.size()) return absl::OkStatus();
  return BadFile(workload.name, absl::StrFormat("%d operations wait for each other in a circle",
                                                workload.ops.size() - done));
}

}  // namespace weir
