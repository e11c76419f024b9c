#include "testbed/experiment/ab.h"

namespace weir {
namespace {

struct Metric {
  const char* name;
  const char* unit;
  bool lower_is_better;
  double (*of)(const RunResult&);
};

constexpr Metric kMetrics[] = {
    {"last completion", "ns", true,
     [](const RunResult& r) { return static_cast<double>(r.makespan.count()); }},
    {"mean completion", "ns", true, [](const RunResult& r) { return r.completion.mean; }},
    {"p99 completion", "ns", true, [](const RunResult& r) { return r.completion.p99; }},
    {"goodput", "bps", false, [](const RunResult& r) { return r.goodput_bps; }},
    {"fairness", "", false, [](const RunResult& r) { return r.fairness; }},
    {"retransmissions", "packets", true,
     [](const RunResult& r) { return static_cast<double>(r.counters.retransmitted_packets); }},
    {"peak queue", "bytes", true,
     [](const RunResult& r) { return static_cast<double>(r.queue_peak.count()); }},
};

std::vector<double> Values(const std::vector<RunResult>& results, const std::string& arm,
                           const Metric& metric) {
  std::vector<double> values;
  for (const RunResult& r : results) {
    if (r.arm == arm) values.push_back(metric.of(r));
  }
  return values;
}

}  // namespace

AbResult CompareArms(const Experiment& experiment, const std::vector<RunResult>& results) {
  AbResult ab;
  ab.baseline = experiment.arms.front().name;
  ab.seeds = experiment.seeds;
  for (const RunResult& r : results) {
    if (r.real_time.has_value() && !r.real_time->too_busy.empty()) ++ab.too_busy;
  }
  for (size_t i = 1; i < experiment.arms.size(); ++i) {
    for (const Metric& metric : kMetrics) {
      AbDifference d{.arm = experiment.arms[i].name,
                     .metric = metric.name,
                     .unit = metric.unit,
                     .lower_is_better = metric.lower_is_better};
      d.difference =
          ComparePaired(Values(results, ab.baseline, metric), Values(results, d.arm, metric));
      if (ab.too_busy > 0) d.difference.shown = false;
      if (d.difference.mean_a != 0) d.relative = d.difference.difference / d.difference.mean_a;
      ab.differences.push_back(d);
    }
  }
  return ab;
}

}  // namespace weir
