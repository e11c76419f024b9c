// Collectives and jobs, for people.
#include <numeric>
#include <utility>

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

// One row each: a title and the time's parts.
using TitledParts = std::pair<TextRow, Breakdown>;

// Shares of the parts that are anywhere above nothing.
std::string PartsTable(TextRow head, const std::vector<TitledParts>& all) {
  Breakdown sum;
  for (const auto& [title, parts] : all) Add(parts, sum);
  std::vector<TextRow> rows;
  for (size_t i = 0; i < sum.size(); ++i) {
    if (sum[i] > Duration(0)) head.push_back(Name(static_cast<TimePart>(i)));
  }
  rows.push_back(std::move(head));
  for (const auto& [title, parts] : all) {
    if (parts.empty()) continue;
    const Duration whole = std::accumulate(parts.begin(), parts.end(), Duration(0));
    TextRow row = title;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (sum[i] == Duration(0)) continue;
      row.push_back(
          whole == Duration(0) ? "-" : absl::StrFormat("%.1f %%", 100 * Ratio(parts[i], whole)));
    }
    rows.push_back(std::move(row));
  }
  return rows.size() > 1 ? AlignRows(rows) : "";
}

// Where the time goes, if the experiment asks.
std::string Breakdowns(const RunResult& r) {
  std::vector<TitledParts> calls;
  for (const OperationSummary& s : SummarizeOperations(r.operations)) {
    if (calls.size() >= kRowsMax) break;
    calls.push_back({{s.name, PrettyBytes(static_cast<double>(s.size.count()))}, s.breakdown});
  }
  std::vector<TitledParts> steps;
  for (const JobResult& job : r.jobs) {
    for (size_t i = 0; i < job.steps.size(); ++i) {
      steps.push_back({{job.name, absl::StrFormat("%d", i)}, job.steps[i].breakdown});
    }
  }
  return PartsTable({"where time goes", "size"}, calls) + PartsTable({"job", "step"}, steps);
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
  out += Breakdowns(r);
  return out;
}

}  // namespace weir
