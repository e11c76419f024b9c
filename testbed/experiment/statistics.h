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
  bool shown = false;  // the interval excludes zero, with at least three pairs, or pairs that are
                       // all different by the same amount
};
PairedDifference ComparePaired(std::span<const double> a, std::span<const double> b);

}  // namespace weir
