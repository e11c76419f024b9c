#include "testbed/experiment/statistics.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "testbed/experiment/bootstrap.h"

namespace weir {
namespace {

constexpr double kLevel = 0.95;
constexpr double kUpperTail = 0.975;  // leaves 2.5 % on each side of a 95 % interval
constexpr size_t kPairsToJudge = 3;   // fewer don't tell a difference from chance
constexpr double kSameAmount = 1e-9;  // relative; what subtracting doubles may add

double Mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// `percent` in 1 to 100; `sorted` is not empty.
double NearestRank(const std::vector<double>& sorted, size_t percent) {
  return sorted[(sorted.size() * percent + 99) / 100 - 1];
}

// Of the mean of at least two values.
double StandardError(std::span<const double> values, double mean) {
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  const double n = static_cast<double>(values.size());
  return std::sqrt(squares / (n - 1) / n);
}

// Half the width of the interval around it.
double HalfInterval(std::span<const double> values, double mean) {
  const boost::math::students_t distribution(static_cast<double>(values.size()) - 1);
  return boost::math::quantile(distribution, kUpperTail) * StandardError(values, mean);
}

// True for at least two values that agree up to rounding.
bool AllTheSame(const std::vector<double>& values, double mean) {
  return values.size() > 1 && std::ranges::all_of(values, [mean](double v) {
           return std::abs(v - mean) <= kSameAmount * std::abs(mean);
         });
}

// Of each seed's values alone.
std::vector<double> EachPercentile(const std::vector<std::vector<double>>& seeds, size_t percent) {
  std::vector<double> out;
  for (std::vector<double> values : seeds) {
    std::ranges::sort(values);
    out.push_back(values.empty() ? 0 : NearestRank(values, percent));
  }
  return out;
}

// Two-sided, of Student's t with n - 1 degrees of freedom.
double PValue(double difference, double error, size_t n) {
  if (difference == 0) return 1;
  if (error == 0) return 0;
  const boost::math::students_t distribution(static_cast<double>(n - 1));
  return 2 * boost::math::cdf(distribution, -std::abs(difference) / error);
}

}  // namespace

bool ExcludesZero(const PairedDifference& d) { return d.low > 0 || d.high < 0; }

Summary Summarize(std::span<const double> values) {
  Summary summary;
  if (values.empty()) return summary;
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  summary.count = sorted.size();
  summary.mean = Mean(values);
  summary.median = NearestRank(sorted, 50);
  summary.p99 = NearestRank(sorted, 99);
  summary.min = sorted.front();
  summary.max = sorted.back();
  return summary;
}

double JainIndex(std::span<const double> values) {
  double sum = 0;
  double squares = 0;
  for (const double v : values) {
    sum += v;
    squares += v * v;
  }
  // All zero is all equal.
  return squares == 0 ? 1 : sum * sum / (static_cast<double>(values.size()) * squares);
}

Interval MeanInterval(std::span<const double> values) {
  if (values.empty()) return {};
  const double mean = Mean(values);
  return {mean, values.size() < 2 ? 0 : HalfInterval(values, mean)};
}

PairedDifference ComparePaired(std::span<const double> a, std::span<const double> b) {
  PairedDifference result;
  result.pairs = std::min(a.size(), b.size());
  if (result.pairs == 0) return result;
  std::vector<double> differences(result.pairs);
  for (size_t i = 0; i < result.pairs; ++i) differences[i] = b[i] - a[i];
  result.mean_a = Mean(a.first(result.pairs));
  result.mean_b = Mean(b.first(result.pairs));
  result.difference = Mean(differences);
  const double half = result.pairs == 1 ? 0 : HalfInterval(differences, result.difference);
  result.low = result.difference - half;
  result.high = result.difference + half;
  const bool same = AllTheSame(differences, result.difference);
  if (result.pairs > 1) {
    const double error = same ? 0 : StandardError(differences, result.difference);
    result.p = PValue(result.difference, error, result.pairs);
  }
  result.shown = ExcludesZero(result) && (result.pairs >= kPairsToJudge || same);
  return result;
}

PairedDifference CompareMeans(std::span<const double> a, std::span<const double> b) {
  PairedDifference result = ComparePaired(a, b);
  if (result.pairs < 2 || result.low == result.high) return result;
  const auto mean = [&](Weights weights) {
    double sum = 0;
    double n = 0;
    for (size_t i = 0; i < weights.size(); ++i) {
      sum += weights[i] * (b[i] - a[i]);
      n += weights[i];
    }
    return sum / n;
  };
  const Resampled resampled = Bootstrap(result.pairs, kLevel, mean);
  result.low = resampled.low;
  result.high = resampled.high;
  return result;
}

PairedDifference ComparePercentiles(const std::vector<std::vector<double>>& a,
                                    const std::vector<std::vector<double>>& b, size_t percent) {
  PairedDifference result;
  result.pairs = a.size();
  if (result.pairs == 0) return result;
  const PooledPercentile of_a(a, percent);
  const PooledPercentile of_b(b, percent);
  const std::vector<uint32_t> once(result.pairs, 1);
  result.mean_a = of_a.Of(once);
  result.mean_b = of_b.Of(once);
  result.difference = result.low = result.high = result.mean_b - result.mean_a;
  if (result.pairs < 2) return result;
  const Resampled resampled = Bootstrap(
      result.pairs, kLevel, [&](Weights weights) { return of_b.Of(weights) - of_a.Of(weights); });
  result.low = resampled.low;
  result.high = resampled.high;
  result.p = std::max(PValue(result.difference, resampled.error, result.pairs),
                      ComparePaired(EachPercentile(a, percent), EachPercentile(b, percent)).p);
  result.shown = ExcludesZero(result) && result.pairs >= kPairsToJudge;
  return result;
}

}  // namespace weir
