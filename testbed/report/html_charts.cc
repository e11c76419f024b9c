// Charts of results.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "absl/strings/str_format.h"
#include "testbed/report/html_report.h"

namespace weir {
namespace {

constexpr size_t kPoints = 400;    // of a curve
constexpr double kWideRange = 20;  // of values that want a logarithmic axis
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

std::vector<double> SortedCompletions(const std::vector<RunResult>& results,
                                      const std::string& arm) {
  std::vector<double> values;
  for (const RunResult& r : results) {
    if (r.arm != arm) continue;
    for (const TransferResult& t : r.transfers) {
      if (t.finished()) values.push_back(static_cast<double>((t.sent - t.start).count()));
    }
  }
  std::ranges::sort(values);
  return values;
}

Chart DistributionChart(const std::vector<RunResult>& results) {
  Chart chart{.title = "Completion time of transfers",
              .note = "Share of all transfers, of all seeds, that were done within that time.",
              .x_label = "completion",
              .x_unit = "ns",
              .y_label = "share of transfers",
              .y_unit = "share"};
  std::vector<std::vector<double>> values;
  double low = std::numeric_limits<double>::max();
  double high = 0;
  const std::vector<std::string> arms = ArmsOf(results);
  for (const std::string& arm : arms) {
    values.push_back(SortedCompletions(results, arm));
    if (values.back().empty()) continue;
    low = std::min(low, values.back().front());
    high = std::max(high, values.back().back());
  }
  if (high <= 0) return chart;
  low = std::max(low, 1.0);
  chart.x_log = high / low > kWideRange;
  for (size_t i = 0; i <= kPoints; ++i) {
    const double share = static_cast<double>(i) / kPoints;
    chart.x.push_back(
        std::round(chart.x_log ? low * std::pow(high / low, share) : low + (high - low) * share));
  }
  chart.x.erase(std::unique(chart.x.begin(), chart.x.end()), chart.x.end());
  for (size_t a = 0; a < arms.size(); ++a) {
    Chart::Series series{.label = arms[a]};
    for (const double x : chart.x) {
      const auto below = std::ranges::upper_bound(values[a], x) - values[a].begin();
      series.y.push_back(values[a].empty()
                             ? kNothing
                             : static_cast<double>(below) / static_cast<double>(values[a].size()));
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

Chart LastBySeedChart(const std::vector<RunResult>& results) {
  Chart chart{.title = "Last completion, seed by seed",
              .note =
                  "The same seed is the same traffic for every arm: differences are taken within "
                  "a seed.",
              .x_label = "seed",
              .y_label = "last completion",
              .y_unit = "ns",
              .points = true};
  std::set<uint64_t> seeds;
  for (const RunResult& r : results) seeds.insert(r.seed);
  for (const uint64_t seed : seeds) chart.x.push_back(static_cast<double>(seed));
  for (const std::string& arm : ArmsOf(results)) {
    std::map<uint64_t, double> last;
    for (const RunResult& r : results) {
      if (r.arm == arm && r.finished) last[r.seed] = static_cast<double>(r.makespan.count());
    }
    Chart::Series series{.label = arm};
    for (const uint64_t seed : seeds) {
      series.y.push_back(last.contains(seed) ? last[seed] : kNothing);
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

// The first run of each arm that has samples.
std::vector<const RunResult*> SampledRuns(const std::vector<RunResult>& results) {
  std::vector<const RunResult*> runs;
  std::set<std::string> arms;
  for (const RunResult& r : results) {
    if (r.samples.has_value() && !r.samples->at.empty() && arms.insert(r.arm).second) {
      runs.push_back(&r);
    }
  }
  return runs;
}

double AsNumber(Bytes b) { return static_cast<double>(b.count()); }
double AsNumber(double x) { return x; }

// One series a run, over time; several samples that share a point show the largest of them.
template <class T>
Chart OverTime(const std::vector<const RunResult*>& runs, Chart chart,
               const std::function<const std::vector<T>&(const Samples&)>& of) {
  size_t longest = 0;
  for (const RunResult* r : runs) longest = std::max(longest, r->samples->at.size());
  const size_t stride = (longest + kPoints - 1) / kPoints;
  chart.x_label = "time";
  chart.x_unit = "ns";
  const auto every = static_cast<double>(runs.front()->samples->every.count());
  for (size_t i = 0; i < longest; i += stride) chart.x.push_back(every * static_cast<double>(i));
  for (const RunResult* r : runs) {
    const std::vector<T>& values = of(*r->samples);
    Chart::Series series{.label = r->arm};
    for (size_t i = 0; i < longest; i += stride) {
      double most = kNothing;
      for (size_t k = i; k < std::min(i + stride, values.size()); ++k) {
        most = std::fmax(most, AsNumber(values[k]));
      }
      series.y.push_back(most);
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

}  // namespace

std::vector<std::string> ArmsOf(const std::vector<RunResult>& results) {
  std::vector<std::string> arms;
  for (const RunResult& r : results) {
    if (std::ranges::find(arms, r.arm) == arms.end()) arms.push_back(r.arm);
  }
  return arms;
}

std::vector<Chart> CompletionCharts(const std::vector<RunResult>& results) {
  std::vector<Chart> charts{DistributionChart(results)};
  std::set<uint64_t> seeds;
  for (const RunResult& r : results) seeds.insert(r.seed);
  if (seeds.size() > 1) charts.push_back(LastBySeedChart(results));
  return charts;
}

std::vector<Chart> SampleCharts(const std::vector<RunResult>& results) {
  const std::vector<const RunResult*> runs = SampledRuns(results);
  if (runs.empty()) return {};
  const Samples& first = *runs.front()->samples;
  const std::string seed = absl::StrFormat("Seed %d.", runs.front()->seed);
  using Sizes = std::vector<Bytes>;
  using Numbers = std::vector<double>;
  std::vector<Chart> charts;
  charts.push_back(
      OverTime<double>(runs,
                       {.title = "Throughput into hosts",
                        .note = seed + " All hosts together, with headers.",
                        .y_label = "throughput",
                        .y_unit = "bps"},
                       [](const Samples& s) -> const Numbers& { return s.delivered_bps; }));
  charts.push_back(OverTime<Bytes>(runs,
                                   {.title = "Fullest queue",
                                    .note = seed + " Of all switch outputs.",
                                    .y_label = "queue",
                                    .y_unit = "bytes"},
                                   [](const Samples& s) -> const Sizes& { return s.queue_max; }));
  charts.push_back(OverTime<double>(runs,
                                    {.title = "Busiest path",
                                     .note = seed + " Load of the busiest link between switches.",
                                     .y_label = "load",
                                     .y_unit = "share"},
                                    [](const Samples& s) -> const Numbers& { return s.load_max; }));
  charts.push_back(
      OverTime<double>(runs,
                       {.title = "Mean load of paths",
                        .note = seed + " Over all links between switches.",
                        .y_label = "load",
                        .y_unit = "share"},
                       [](const Samples& s) -> const Numbers& { return s.load_mean; }));
  if (first.flow.empty()) return charts;
  charts.push_back(
      OverTime<double>(runs,
                       {.title = "Window of one flow",
                        .note = seed + " " + first.flow + ". No line: no limit.",
                        .y_label = "window",
                        .y_unit = "bytes"},
                       [](const Samples& s) -> const Numbers& { return s.window_bytes; }));
  charts.push_back(OverTime<double>(runs,
                                    {.title = "Rate of one flow",
                                     .note = seed + " " + first.flow + ". No line: no limit.",
                                     .y_label = "rate",
                                     .y_unit = "bps"},
                                    [](const Samples& s) -> const Numbers& { return s.rate_bps; }));
  return charts;
}

}  // namespace weir
