#include "testbed/experiment/statistics.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

namespace weir {
namespace {

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

// Half the width of the interval around the mean of at least two values.
double HalfInterval(std::span<const double> values, double mean) {
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  const double n = static_cast<double>(values.size());
  const boost::math::students_t distribution(n - 1);
  return boost::math::quantile(distribution, kUpperTail) * std::sqrt(squares / (n - 1) / n);
}

// True for at least two values that agree up to rounding.
bool AllTheSame(const std::vector<double>& values, double mean) {
  return values.size() > 1 && std::ranges::all_of(values, [mean](double v) {
           return std::abs(v - mean) <= kSameAmount * std::abs(mean);
         });
}

}  // namespace

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
  const bool excludes_zero = result.low > 0 || result.high < 0;
  result.shown = excludes_zero &&
                 (result.pairs >= kPairsToJudge || AllTheSame(differences, result.difference));
  return result;
}

}  // namespace weir
