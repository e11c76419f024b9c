// Results in the columns of nccl-tests (github.com/NVIDIA/nccl-tests, commit a0b82b2), so that what
// reads its output reads ours.
#include "absl/strings/str_format.h"
#include "testbed/experiment/measure_operations.h"
#include "testbed/traffic/collectives/collective.h"

namespace weir {
namespace {

constexpr int64_t kFloat = 4;

// Elements a rank passes, of an S that may be the total.
int64_t CountOf(const OperationSummary& s) {
  const bool total = s.name == "all_gather" || s.name == "reduce_scatter" || s.name == "alltoall" ||
                     s.name == "gather" || s.name == "scatter";
  return s.size.count() / kFloat / (total ? std::max(1u, s.ranks) : 1);
}
const char* ReductionOf(const std::string& name) {
  return name == "all_reduce" || name == "reduce_scatter" || name == "reduce" ? "sum" : "none";
}
int RootOf(const std::string& name) {
  for (int i = 0; i < kCollectiveKinds; ++i) {
    const auto kind = static_cast<CollectiveKind>(i);
    if (name == Name(kind)) return HasRoot(kind) ? 0 : -1;
  }
  return -1;
}

}  // namespace

std::string NcclTestsText(const std::vector<OperationResult>& operations) {
  std::vector<OperationSummary> rows;
  for (OperationSummary& s : SummarizeOperations(operations)) {
    if (s.name != "warmup" && s.calls > 0) rows.push_back(std::move(s));
  }
  std::string out =
      "#                                                              out-of-place              "
      "         in-place          \n"
      "#       size         count      type   redop    root     time   algbw   busbw  wrong     "
      "time   algbw   busbw  wrong\n"
      "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            "
      "(us)  (GB/s)  (GB/s)       \n";
  double sum = 0;
  std::string name;
  for (const OperationSummary& s : rows) {
    if (s.name != name) {
      name = s.name;
      out += absl::StrFormat("# %s, %d ranks; simulated: both places are the same run\n", name,
                             s.ranks);
    }
    const std::string measured =
        absl::StrFormat("%9.2f %7.2f %7.2f %6d", static_cast<double>(s.mean.count()) * 1e-3,
                        s.algorithm_bandwidth * 1e-9, s.bus_bandwidth * 1e-9, 0);
    out += absl::StrFormat("%12d %13d %9s %7s %7d %s %s\n", s.size.count(), CountOf(s), "float",
                           ReductionOf(s.name), RootOf(s.name), measured, measured);
    sum += s.bus_bandwidth * 1e-9;
  }
  out += "# Out of bounds values : 0 OK\n";
  out += absl::StrFormat("# Avg bus bandwidth    : %g \n",
                         rows.empty() ? 0 : sum / static_cast<double>(rows.size()));
  return out;
}

}  // namespace weir
