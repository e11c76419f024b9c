#include "testbed/experiment/measure_operations.h"

#include <algorithm>
#include <map>
#include <utility>

namespace weir {
namespace {

// A rank is slow if its lateness is above the median by so many median deviations, and by so much
// of the mean time between collectives.
constexpr double kDeviations = 6;
constexpr double kShare = 0.01;

OperationResult Measure(const Operation& operation, const std::vector<Duration>& fired_at) {
  OperationResult r{.name = operation.name,
                    .size = operation.size,
                    .ranks = static_cast<uint32_t>(operation.members.size()),
                    .bus_factor = operation.bus_factor,
                    .first_arrival = Duration::Max(),
                    .ideal = operation.ideal};
  for (const Operation::Member& m : operation.members) {
    const Duration arrived = fired_at[m.arrived];
    r.first_arrival = std::min(r.first_arrival, arrived);
    if (arrived >= r.last_arrival) {
      r.last_arrival = arrived;
      r.last_rank = m.rank;
    }
    r.end = std::max(r.end, fired_at[m.done]);
  }
  return r;
}

// The length of the union of intervals.
Duration Covered(std::vector<std::pair<Duration, Duration>>& intervals) {
  std::sort(intervals.begin(), intervals.end());
  Duration covered{};
  Duration until{};
  for (const auto& [from, to] : intervals) {
    covered += std::max(Duration(0), to - std::max(from, until));
    until = std::max(until, to);
  }
  return covered;
}

double MedianOf(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class JobMeter {
 public:
  JobMeter(const Traffic& traffic, const std::vector<Duration>& fired_at)
      : traffic_(traffic), fired_at_(fired_at) {
    for (const Delay& d : traffic.delays) {
      if (d.computes == Delay::kNoRank || d.after == kNoTrigger) continue;
      const Duration from = fired_at[d.after];
      if (from != Duration::Max()) computes_[d.computes].emplace_back(from, from + d.length);
    }
  }

  JobResult Measure(const Job& job) {
    JobResult r{.name = job.name, .ranks = job.ranks, .steps = {}, .slow_ranks = {}};
    const std::vector<uint32_t> beginning(job.ranks, kNoTrigger);
    const std::vector<uint32_t>* before = &beginning;
    for (const std::vector<uint32_t>& step : job.steps) {
      r.steps.push_back(MeasureStep(job, *before, step));
      if (r.steps.back().time == Duration::Max()) break;
      before = &step;
    }
    r.slow_ranks = SlowRanks(job);
    return r;
  }

 private:
  Duration At(uint32_t trigger) const {
    return trigger == kNoTrigger ? Duration(0) : fired_at_[trigger];
  }

  // Every rank computes within its own step, which begins when its last one has ended.
  StepResult MeasureStep(const Job& job, const std::vector<uint32_t>& before,
                         const std::vector<uint32_t>& step) {
    Duration begin{};
    Duration end{};
    for (uint32_t i = 0; i < job.ranks; ++i) {
      begin = std::max(begin, At(before[i]));
      end = std::max(end, At(step[i]));
    }
    if (end == Duration::Max()) return {.time = Duration::Max()};
    Duration compute{};
    for (uint32_t i = 0; i < job.ranks; ++i) {
      std::vector<std::pair<Duration, Duration>> within;
      for (const auto& [from, to] : computes_[job.first_rank + i]) {
        if (from >= At(before[i]) && from < At(step[i])) within.emplace_back(from, to);
      }
      compute += Covered(within);
    }
    compute = compute / std::max<int64_t>(1, job.ranks);
    return {.time = end - begin, .compute = compute, .exposed = end - begin - compute};
  }

  std::vector<JobResult::SlowRank> SlowRanks(const Job& job) const {
    const size_t ranks = job.ranks;
    std::vector<double> late(ranks);
    std::vector<double> calls(ranks);
    Duration last_end{};
    for (const Operation& operation : traffic_.operations) {
      if (operation.members.size() < 3) continue;  // of two, either could be early
      Duration first = Duration::Max();
      for (const auto& m : operation.members) first = std::min(first, fired_at_[m.arrived]);
      for (const auto& m : operation.members) {
        if (m.rank < job.first_rank || m.rank >= job.first_rank + ranks) break;
        if (fired_at_[m.arrived] == Duration::Max()) continue;
        late[m.rank - job.first_rank] +=
            static_cast<double>((fired_at_[m.arrived] - first).count());
        calls[m.rank - job.first_rank] += 1;
        last_end = std::max(last_end, fired_at_[m.arrived]);
      }
    }
    std::vector<double> means;
    for (size_t i = 0; i < ranks; ++i) {
      if (calls[i] > 0) means.push_back(late[i] /= calls[i]);
    }
    if (means.size() < 4) return {};
    const double median = MedianOf(means);
    std::vector<double> deviations;
    for (const double mean : means) deviations.push_back(std::abs(mean - median));
    const double most_calls = *std::max_element(calls.begin(), calls.end());
    const double bound =
        median + std::max(kDeviations * MedianOf(deviations),
                          kShare * static_cast<double>(last_end.count()) / most_calls);
    std::vector<JobResult::SlowRank> slow;
    for (uint32_t i = 0; i < ranks; ++i) {
      if (calls[i] > 0 && late[i] > bound) {
        slow.push_back({job.first_rank + i, Duration(static_cast<int64_t>(late[i]))});
      }
    }
    std::stable_sort(slow.begin(), slow.end(),
                     [](const auto& a, const auto& b) { return a.lateness > b.lateness; });
    return slow;
  }

  const Traffic& traffic_;
  const std::vector<Duration>& fired_at_;
  std::map<uint32_t, std::vector<std::pair<Duration, Duration>>> computes_;  // by rank
};

}  // namespace

void MeasureOperations(const Traffic& traffic, const std::vector<Duration>& fired_at,
                       RunResult& result) {
  for (const Operation& operation : traffic.operations) {
    result.operations.push_back(Measure(operation, fired_at));
  }
  JobMeter meter(traffic, fired_at);
  for (const Job& job : traffic.jobs) result.jobs.push_back(meter.Measure(job));
}

void Add(const Breakdown& parts, Breakdown& sum) {
  if (sum.size() < parts.size()) sum.resize(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) sum[i] += parts[i];
}

std::vector<OperationSummary> SummarizeOperations(const std::vector<OperationResult>& operations) {
  std::vector<OperationSummary> out;
  std::map<std::tuple<std::string, Bytes, uint32_t>, size_t> index;
  std::vector<double> factors;  // sums
  for (const OperationResult& o : operations) {
    const auto [at, added] = index.emplace(std::tuple(o.name, o.size, o.ranks), out.size());
    if (added) {
      out.push_back({.name = o.name, .size = o.size, .ranks = o.ranks});
      factors.push_back(0);
    }
    OperationSummary& s = out[at->second];
    if (!o.finished()) {
      ++s.unfinished;
      continue;
    }
    ++s.calls;
    s.mean += o.end - o.first_arrival;
    s.since_last += o.end - o.last_arrival;
    s.ideal += o.ideal;
    Add(o.breakdown, s.breakdown);
    factors[at->second] += o.bus_factor;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    OperationSummary& s = out[i];
    if (s.calls == 0) continue;
    s.mean = s.mean / s.calls;
    s.since_last = s.since_last / s.calls;
    s.ideal = s.ideal / s.calls;
    for (Duration& part : s.breakdown) part = part / s.calls;
    if (s.mean > Duration(0)) {
      s.algorithm_bandwidth =
          static_cast<double>(s.size.count()) / (static_cast<double>(s.mean.count()) * 1e-9);
    }
    s.bus_bandwidth = s.algorithm_bandwidth * factors[i] / s.calls;
  }
  return out;
}

}  // namespace weir
