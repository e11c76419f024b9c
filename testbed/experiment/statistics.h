// Numbers about numbers: summaries, fairness and paired differences with their intervals.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace weir {

struct Summary {
  size_t count = 0;
  double mean = 0;
  double median = 0;
  double p99 = 0;
  double min = 0;
  double max = 0;
};
// Percentiles by the nearest rank: the smallest value with at least that share at or below it.
Summary Summarize(std::span<const double> values);

// Jain's index, (sum x)^2 / (n sum x^2): 1 when all are equal, 1/n when one has all. 1 if empty.
double JainIndex(std::span<const double> values);

// A mean and half of its 95 % confidence interval (Student's t); 0 for fewer than two values.
struct Interval {
  double mean = 0;
  double half = 0;
};
Interval MeanInterval(std::span<const double> values);

// The difference b - a of paired measurements.
struct PairedDifference {
  size_t pairs = 0;
  double mean_a = 0;
  double mean_b = 0;
  double difference = 0;  // mean of b - a
  double low = 0;         // 95 % confidence interval, Student's t; equals difference for one pair
  double high = 0;
  double p = 1;        // of no difference, two-sided; 1 for one pair
  bool shown = false;  // the interval excludes zero, with at least three pairs, or pairs that are
                       // all different by the same amount
};
bool ExcludesZero(const PairedDifference& d);
PairedDifference ComparePaired(std::span<const double> a, std::span<const double> b);
// The same with an interval from the bootstrap; `shown` still says what Student's t does.
PairedDifference CompareMeans(std::span<const double> a, std::span<const double> b);
// Of a percentile (1 to 100) over pooled values; one vector a seed, the same number in `a` and `b`.
// The interval is from the bootstrap over seeds. `p` is the larger of two: by the error from the
// bootstrap, which is too small for a percentile that few values lie beyond, and of the differences
// between each seed's own percentiles.
PairedDifference ComparePercentiles(const std::vector<std::vector<double>>& a,
                                    const std::vector<std::vector<double>>& b, size_t percent);

}  // namespace weir
