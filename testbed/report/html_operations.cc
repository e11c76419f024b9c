// Collectives in the report.
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_format.h"
#include "testbed/experiment/measure_operations.h"
#include "testbed/experiment/report.h"
#include "testbed/experiment/report_text.h"
#include "testbed/report/html_report.h"

namespace weir {
namespace {

constexpr size_t kRowsMax = 60;
constexpr char kWarmup[] = "warmup";

// Over all seeds of the arm; without warm-ups.
std::vector<OperationSummary> CallsOf(const std::vector<RunResult>& results,
                                      const std::string& arm) {
  std::vector<OperationResult> calls;
  for (const RunResult& r : results) {
    if (r.arm != arm) continue;
    for (const OperationResult& o : r.operations) {
      if (o.name != kWarmup) calls.push_back(o);
    }
  }
  return SummarizeOperations(calls);
}

std::string GigabytesPerSecond(double bytes) { return absl::StrFormat("%.2f", bytes * 1e-9); }

}  // namespace

std::string OperationsTable(const std::vector<RunResult>& results) {
  std::vector<HtmlRow> rows;
  rows.push_back({TextCell("collective"), NumberCell("size"), TextCell("arm"), NumberCell("calls"),
                  NumberCell("time"), NumberCell("since last arrival"), NumberCell("ideal"),
                  NumberCell("algbw GB/s"), NumberCell("busbw GB/s")});
  size_t more = 0;
  for (const std::string& arm : ArmsOf(results)) {
    for (const OperationSummary& s : CallsOf(results, arm)) {
      if (rows.size() > kRowsMax) {
        ++more;
        continue;
      }
      rows.push_back({TextCell(s.name),
                      NumberCell(PrettyBytes(static_cast<double>(s.size.count()))), HeadCell(arm),
                      NumberCell(s.unfinished == 0 ? absl::StrFormat("%d", s.calls)
                                                   : absl::StrFormat("%d of %d", s.calls,
                                                                     s.calls + s.unfinished)),
                      NumberCell(Pretty(s.mean)), NumberCell(Pretty(s.since_last)),
                      NumberCell(s.ideal > Duration(0) ? Pretty(s.ideal) : "-"),
                      NumberCell(GigabytesPerSecond(s.algorithm_bandwidth)),
                      NumberCell(GigabytesPerSecond(s.bus_bandwidth))});
    }
  }
  if (rows.size() == 1) return "";
  std::string out = HtmlTable(rows);
  if (more > 0) out += absl::StrFormat("<p class=\"note\">and %d more; --json has all</p>\n", more);
  return out;
}

std::string BreakdownTable(const std::vector<RunResult>& results) {
  const std::vector<std::string> arms = ArmsOf(results);
  std::vector<std::pair<std::string, OperationSummary>> calls;
  Breakdown sum;
  for (const std::string& arm : arms) {
    for (OperationSummary& s : CallsOf(results, arm)) {
      if (s.breakdown.empty() || calls.size() >= kRowsMax) continue;
      Add(s.breakdown, sum);
      calls.emplace_back(arm, std::move(s));
    }
  }
  if (calls.empty()) return "";
  std::vector<HtmlRow> rows;
  rows.push_back({TextCell("collective"), NumberCell("size"), TextCell("arm")});
  for (size_t i = 0; i < sum.size(); ++i) {
    if (sum[i] > Duration(0)) rows[0].push_back(NumberCell(Name(static_cast<TimePart>(i))));
  }
  for (const auto& [arm, s] : calls) {
    HtmlRow row{TextCell(s.name), NumberCell(PrettyBytes(static_cast<double>(s.size.count()))),
                HeadCell(arm)};
    for (size_t i = 0; i < sum.size(); ++i) {
      if (sum[i] == Duration(0)) continue;
      row.push_back(NumberCell(
          s.mean == Duration(0) ? "-"
                                : absl::StrFormat("%.1f %%", 100 * Ratio(s.breakdown[i], s.mean))));
    }
    rows.push_back(std::move(row));
  }
  return HtmlTable(rows);
}

std::vector<Chart> BandwidthCharts(const std::vector<RunResult>& results) {
  // By kind: its sizes, and by arm the bus bandwidth at each.
  std::map<std::string, std::set<Bytes>> sizes;
  std::map<std::string, std::map<std::string, std::map<Bytes, double>>> bandwidth;
  const std::vector<std::string> arms = ArmsOf(results);
  for (const std::string& arm : arms) {
    for (const OperationSummary& s : CallsOf(results, arm)) {
      if (s.calls == 0) continue;
      sizes[s.name].insert(s.size);
      bandwidth[s.name][arm][s.size] = s.bus_bandwidth;
    }
  }
  std::vector<Chart> charts;
  for (const auto& [name, of_kind] : sizes) {
    if (of_kind.size() < 2) continue;
    Chart chart{.title = "Bus bandwidth of " + name,
                .note = "As nccl-tests defines it, of the mean time since the first arrival.",
                .x_label = "size",
                .x_unit = "bytes",
                .y_label = "busbw",
                .y_unit = "Bps",
                .x_log = true,
                .points = true};
    for (const Bytes size : of_kind) chart.x.push_back(static_cast<double>(size.count()));
    for (const std::string& arm : arms) {
      Chart::Series series{.label = arm};
      for (const Bytes size : of_kind) {
        const auto found = bandwidth[name][arm].find(size);
        series.y.push_back(found == bandwidth[name][arm].end()
                               ? std::numeric_limits<double>::quiet_NaN()
                               : found->second);
      }
      chart.series.push_back(std::move(series));
    }
    charts.push_back(std::move(chart));
  }
  return charts;
}

}  // namespace weir
