#include "testbed/experiment/league.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "testbed/experiment/report_text.h"

namespace weir {
namespace {

double Nanoseconds(const RunResult& r) { return static_cast<double>(r.makespan.count()); }

std::vector<double> LastOf(const std::vector<RunResult>& results, const std::string& arm) {
  std::vector<double> values;
  for (const RunResult& r : results) {
    if (r.arm == arm) values.push_back(Nanoseconds(r));
  }
  return values;
}

LeagueRow RowOf(const std::string& arm, const std::vector<RunResult>& results) {
  LeagueRow row{.arm = arm};
  double ideal = 0;
  for (const RunResult& r : results) {
    if (r.arm != arm) continue;
    ++row.runs;
    row.finished += r.finished ? 1 : 0;
    ideal += static_cast<double>(r.ideal.count());
    row.p99 += r.completion.p99;
    row.fairness += r.fairness;
    row.retransmissions += static_cast<double>(r.counters.retransmitted_packets);
    if (r.fabric.has_value()) {
      row.queue_peak =
          row.queue_peak.value_or(0) + static_cast<double>(r.fabric->queue_peak.count());
    }
  }
  const auto n = static_cast<double>(std::max<size_t>(1, row.runs));
  for (double* sum : {&row.p99, &row.fairness, &row.retransmissions}) *sum /= n;
  if (row.queue_peak.has_value()) *row.queue_peak /= n;
  row.last = MeanInterval(LastOf(results, arm));
  if (ideal > 0) row.slowdown = row.last.mean * n / ideal;
  return row;
}

std::string Baseline(const Experiment& experiment) {
  for (const Arm& arm : experiment.arms) {
    if (std::string(arm.binding.cc->name) == "none") return arm.name;
  }
  return experiment.arms.front().name;
}

void Rank(std::vector<LeagueRow>& rows, const std::vector<RunResult>& results) {
  const LeagueRow* leader = nullptr;  // the best of the present rank
  int place = 0;
  for (LeagueRow& row : rows) {
    if (row.finished < row.runs) continue;
    ++place;
    const bool behind = leader == nullptr ||
                        ComparePaired(LastOf(results, leader->arm), LastOf(results, row.arm)).shown;
    row.rank = behind ? place : leader->rank;
    if (behind) leader = &row;
  }
}

}  // namespace

League MakeLeague(const Experiment& experiment, const std::vector<RunResult>& results) {
  League league{.baseline = Baseline(experiment), .seeds = experiment.seeds.size()};
  for (const RunResult& r : results) {
    if (r.real_time.has_value() && !r.real_time->too_busy.empty()) ++league.too_busy;
  }
  for (const Arm& arm : experiment.arms) {
    LeagueRow row = RowOf(arm.name, results);
    row.against = ComparePaired(LastOf(results, league.baseline), LastOf(results, arm.name));
    league.rows.push_back(row);
  }
  std::ranges::stable_sort(league.rows, [](const LeagueRow& a, const LeagueRow& b) {
    const size_t a_missing = a.runs - a.finished;
    const size_t b_missing = b.runs - b.finished;
    return a_missing != b_missing ? a_missing < b_missing : a.last.mean < b.last.mean;
  });
  if (league.too_busy == 0) {
    Rank(league.rows, results);
  } else {
    for (LeagueRow& row : league.rows) row.against.shown = false;
  }
  return league;
}

std::string LeagueTable(const League& league) {
  std::vector<TextRow> text;
  text.push_back({"arm", "rank", "last completion", "+- 95 %", "/ ideal", "to " + league.baseline,
                  "p99", "Jain", "sent again", "peak queue"});
  for (const LeagueRow& row : league.rows) {
    if (row.finished < row.runs) {
      text.push_back(
          {row.arm, "-", absl::StrFormat("%d of %d runs finished", row.finished, row.runs)});
      continue;
    }
    const PairedDifference& d = row.against;
    std::string against = "baseline";
    if (row.arm != league.baseline) {
      against = league.too_busy > 0 ? "not judged"
                : d.shown           ? absl::StrFormat("%+.1f %%", 100 * d.difference / d.mean_a)
                                    : "same";
    }
    text.push_back({row.arm, row.rank == 0 ? "-" : absl::StrFormat("%d", row.rank),
                    PrettyIn("ns", row.last.mean), PrettyIn("ns", row.last.half),
                    absl::StrFormat("%.3f", row.slowdown), against, PrettyIn("ns", row.p99),
                    absl::StrFormat("%.3f", row.fairness),
                    absl::StrFormat("%.0f", row.retransmissions),
                    row.queue_peak.has_value() ? PrettyIn("bytes", *row.queue_peak) : "-"});
  }
  std::string out = AlignRows(text);
  out += absl::StrFormat(
      "means over %d seeds; arms of one rank are not shown to differ from its best\n",
      league.seeds);
  if (league.too_busy > 0) {
    out +=
        absl::StrFormat("no arm is ranked: in %d runs the machine was too busy\n", league.too_busy);
  }
  return out;
}

}  // namespace weir
