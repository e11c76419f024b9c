// Collectives and jobs, for people.
#include "absl/strings/str_format.h"
#include "datapath/text/quantity_text.h"
#include "testbed/experiment/measure_operations.h"
#include "testbed/experiment/report.h"
#include "testbed/experiment/report_text.h"

namespace weir {
namespace {

constexpr size_t kRowsMax = 24;  // of sizes; JSON has them all
constexpr size_t kSlowRanksMax = 5;

std::string GigabytesPerSecond(double bytes) { return absl::StrFormat("%.2f", bytes * 1e-9); }

std::string CallsTable(const RunResult& r) {
  const std::vector<OperationSummary> all = SummarizeOperations(r.operations);
  std::vector<TextRow> rows;
  rows.push_back({"collective", "size", "ranks", "calls", "time", "since last", "ideal",
                  "algbw GB/s", "busbw GB/s"});
  for (const OperationSummary& s : all) {
    if (rows.size() > kRowsMax) break;
    const std::string calls = s.unfinished == 0
                                  ? absl::StrFormat("%d", s.calls)
                                  : absl::StrFormat("%d of %d", s.calls, s.calls + s.unfinished);
    rows.push_back(
        {s.name, PrettyBytes(static_cast<double>(s.size.count())), absl::StrFormat("%d", s.ranks),
         calls, Pretty(s.mean), Pretty(s.since_last), s.ideal > Duration(0) ? Pretty(s.ideal) : "-",
         GigabytesPerSecond(s.algorithm_bandwidth), GigabytesPerSecond(s.bus_bandwidth)});
  }
  std::string out = AlignRows(rows);
  if (all.size() > kRowsMax) {
    out += absl::StrFormat("... and %d more; --json has all\n", all.size() - kRowsMax);
  }
  return out;
}

std::string JobLines(const JobResult& job) {
  std::string out;
  for (size_t i = 0; i < job.steps.size(); ++i) {
    const StepResult& s = job.steps[i];
    out += absl::StrFormat("%s, step %d: ", job.name, i);
    if (s.time == Duration::Max()) {
      out += "did not finish\n";
      continue;
    }
    out += absl::StrFormat("%s, of which computing %s, exposed communication %s (%.1f %%)\n",
                           Pretty(s.time), Pretty(s.compute), Pretty(s.exposed),
                           100 * Ratio(s.exposed, s.time));
  }
  for (size_t i = 0; i < std::min(kSlowRanksMax, job.slow_ranks.size()); ++i) {
    out += absl::StrFormat("%s: rank %d is slow: it comes to collectives %s after the first\n",
                           job.name, job.slow_ranks[i].rank, Pretty(job.slow_ranks[i].lateness));
  }
  return out;
}

}  // namespace

std::string OperationTable(const RunResult& r) {
  if (r.operations.empty()) return "";
  std::string out = absl::StrFormat("\n%s, seed %d\n", r.arm, r.seed) + CallsTable(r);
  for (const JobResult& job : r.jobs) out += JobLines(job);
  return out;
}

}  // namespace weir
