#include "testbed/experiment/ab.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "absl/strings/str_format.h"
#include "testbed/experiment/metrics.h"
#include "testbed/experiment/report_text.h"

namespace weir {
namespace {

constexpr size_t kNamedInVerdict = 4;  // differences

std::vector<const RunResult*> RunsOf(const std::vector<RunResult>& results,
                                     const std::string& arm) {
  std::vector<const RunResult*> runs;
  for (const RunResult& r : results) {
    if (r.arm == arm) runs.push_back(&r);
  }
  return runs;
}

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

PairedDifference Compare(const Metric& metric, const std::vector<const RunResult*>& baseline,
                         const std::vector<const RunResult*>& other) {
  std::vector<std::vector<double>> a;
  std::vector<std::vector<double>> b;
  for (size_t i = 0; i < baseline.size(); ++i) {
    a.push_back(metric.values(*baseline[i]));
    b.push_back(metric.values(*other[i]));
    if (a.back().empty() || b.back().empty()) {  // nothing of this kind in that pair
      a.pop_back();
      b.pop_back();
    }
  }
  if (metric.tail) return ComparePercentiles(a, b, 99);
  std::vector<double> mean_a;
  std::vector<double> mean_b;
  std::ranges::transform(a, std::back_inserter(mean_a), Mean);
  std::ranges::transform(b, std::back_inserter(mean_b), Mean);
  return CompareMeans(mean_a, mean_b);
}

std::string Percent(const AbDifference& d) {
  return d.difference.mean_a == 0
             ? PrettyIn(d.unit, d.difference.difference)
             : absl::StrFormat("%+.*f %%", std::abs(d.relative) < 0.0995 ? 2 : 1, 100 * d.relative);
}

// "last completion -34.1 %, goodput +52.0 % and 3 more".
std::string Names(const std::vector<const AbDifference*>& differences) {
  std::string out;
  for (size_t i = 0; i < std::min(differences.size(), kNamedInVerdict); ++i) {
    out += absl::StrFormat("%s%s %s", i == 0 ? "" : ", ", differences[i]->metric,
                           Percent(*differences[i]));
  }
  if (differences.size() > kNamedInVerdict) {
    out += absl::StrFormat(" and %d more", differences.size() - kNamedInVerdict);
  }
  return out;
}

// From the judged differences of `arm`.
AbVerdict VerdictOf(const AbResult& ab, const std::string& arm) {
  const std::vector<AbDifference>& differences = ab.differences;
  std::vector<const AbDifference*> better;
  std::vector<const AbDifference*> worse;
  std::vector<const AbDifference*> small;
  for (const AbDifference& d : differences) {
    if (d.arm != arm || !d.decides) continue;
    if (d.better()) better.push_back(&d);
    if (d.worse()) worse.push_back(&d);
    if (d.small) small.push_back(&d);
  }
  AbVerdict verdict{.arm = arm};
  if (better.empty() && worse.empty() && !small.empty()) {
    verdict.word = "within tolerance";
    verdict.text =
        absl::StrFormat("%s: shown, and no more than %.3g %%", Names(small), 100 * ab.tolerance);
    return verdict;
  }
  if (better.empty() && worse.empty()) {
    verdict.word = "no difference shown";
    const auto last = std::ranges::find(differences, arm, &AbDifference::arm);
    if (last == differences.end()) return verdict;
    const PairedDifference& d = last->difference;
    verdict.text =
        absl::StrFormat("%s %s, 95 %% interval %s .. %s, %d seeds", last->metric, Percent(*last),
                        PrettyIn(last->unit, d.low), PrettyIn(last->unit, d.high), ab.seeds.size());
    return verdict;
  }
  verdict.word = worse.empty() ? "better" : better.empty() ? "worse" : "mixed";
  if (!worse.empty() && !better.empty()) {
    verdict.text = "WORSE: " + Names(worse) + "; better: " + Names(better);
  } else {
    verdict.text = Names(worse.empty() ? better : worse);
  }
  return verdict;
}

// Why nothing can be said of `arm`; empty: something can.
std::string WhyNoVerdict(const AbResult& ab, const std::vector<RunResult>& results,
                         const std::string& arm) {
  if (ab.too_busy > 0) {
    return absl::StrFormat("in %d runs the machine was too busy; see the warnings", ab.too_busy);
  }
  for (const std::string& name : {ab.baseline, arm}) {
    const std::vector<const RunResult*> runs = RunsOf(results, name);
    const auto unfinished =
        std::ranges::count_if(runs, [](const RunResult* r) { return !r->finished; });
    if (unfinished > 0) {
      return absl::StrFormat(
          "%d of %d runs of %s did not finish, so their figures leave out the "
          "slowest transfers; raise run.time_limit",
          unfinished, runs.size(), name);
    }
  }
  if (ab.seeds.size() < kSeedsToJudge) {
    return absl::StrFormat("%d seeds; at least %d are needed ([run] seeds = 10)", ab.seeds.size(),
                           kSeedsToJudge);
  }
  return "";
}

}  // namespace

std::vector<AbDifference> ComparePairs(const std::string& arm,
                                       const std::vector<const RunResult*>& baseline,
                                       const std::vector<const RunResult*>& other) {
  std::vector<const RunResult*> all = baseline;
  all.insert(all.end(), other.begin(), other.end());
  std::vector<AbDifference> out;
  for (const Metric& metric : MetricsOf(all)) {
    AbDifference d{.arm = arm,
                   .metric = metric.name,
                   .unit = metric.unit,
                   .lower_is_better = metric.lower_is_better,
                   .decides = metric.decides,
                   .difference = Compare(metric, baseline, other)};
    d.difference.shown = false;
    if (d.difference.mean_a != 0) d.relative = d.difference.difference / d.difference.mean_a;
    out.push_back(std::move(d));
  }
  return out;
}

AbResult Differences(const std::vector<std::string>& arms, const std::vector<uint64_t>& seeds,
                     const std::vector<RunResult>& results) {
  AbResult ab{.baseline = arms.front(), .seeds = seeds};
  for (const RunResult& r : results) {
    if (r.real_time.has_value() && !r.real_time->too_busy.empty()) ++ab.too_busy;
  }
  const std::vector<const RunResult*> baseline = RunsOf(results, ab.baseline);
  for (size_t i = 1; i < arms.size(); ++i) {
    for (AbDifference& d : ComparePairs(arms[i], baseline, RunsOf(results, arms[i]))) {
      ab.differences.push_back(std::move(d));
    }
    AbVerdict verdict{.arm = arms[i], .text = WhyNoVerdict(ab, results, arms[i])};
    if (!verdict.text.empty()) verdict.word = kNoVerdict;
    ab.verdicts.push_back(verdict);
  }
  return ab;
}

void Judge(const std::vector<AbResult*>& all, double alpha, double tolerance) {
  std::vector<double> p;
  for (const AbResult* ab : all) {
    for (const AbDifference& d : ab->differences) p.push_back(d.difference.p);
  }
  const std::vector<double> adjusted = HolmAdjusted(p);
  size_t next = 0;
  for (AbResult* ab : all) {
    ab->alpha = alpha;
    ab->tolerance = tolerance;
    ab->comparisons = p.size();
    for (AbDifference& d : ab->differences) {
      d.p_adjusted = adjusted[next++];
      d.difference.shown =
          d.p_adjusted <= alpha && ExcludesZero(d.difference) && WordFor(*ab, d.arm) != kNoVerdict;
      d.small = d.difference.shown && std::abs(d.relative) <= tolerance &&
                d.difference.mean_a != 0 && tolerance > 0;
    }
    for (AbVerdict& v : ab->verdicts) {
      if (v.word.empty()) v = VerdictOf(*ab, v.arm);
    }
  }
}

AbResult CompareArms(const Experiment& experiment, const std::vector<RunResult>& results,
                     double alpha, double tolerance) {
  std::vector<std::string> arms;
  for (const Arm& arm : experiment.arms) arms.push_back(arm.name);
  AbResult ab = Differences(arms, experiment.seeds, results);
  Judge({&ab}, alpha, tolerance);
  return ab;
}

std::string WordFor(const AbResult& ab, const std::string& arm) {
  const auto found = std::ranges::find(ab.verdicts, arm, &AbVerdict::arm);
  return found == ab.verdicts.end() ? "" : found->word;
}

bool Decided(const AbResult& ab) {
  return std::ranges::all_of(ab.verdicts, [](const AbVerdict& v) {
    return v.word == "better" || v.word == "worse" || v.word == "mixed" ||
           v.word == "within tolerance";
  });
}

}  // namespace weir
