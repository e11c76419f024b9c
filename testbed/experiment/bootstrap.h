// Confidence by resampling clusters. In an experiment a cluster is a seed: the runs of both arms on
// it, with all their transfers, which are not independent of each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"

namespace weir {

// How often each cluster was drawn; sums up to their number, or to one less (one is left out).
using Weights = std::span<const uint32_t>;
using Statistic = absl::FunctionRef<double(Weights)>;

struct Resampled {
  double estimate = 0;
  double low = 0;  // BCa interval with tails widened for few clusters; docs/statistics.md
  double high = 0;
  double error = 0;  // standard error, with n - 1 in the denominator
};
// `clusters` >= 2; `level` is the interval's, as 0.95. The generator's seed is fixed: the same
// input gives the same interval.
Resampled Bootstrap(size_t clusters, double level, Statistic statistic);

// A percentile over the pooled values of some clusters: the nearest rank.
class PooledPercentile {
 public:
  // `percent` in 1 to 100.
  PooledPercentile(std::vector<std::vector<double>> clusters, size_t percent);
  // 0 if nothing is drawn.
  double Of(Weights weights) const;

 private:
  struct Value {
    double value;
    uint32_t cluster;
  };
  std::vector<Value> values_;  // the largest first
  std::vector<size_t> sizes_;  // of the clusters
  size_t percent_;
};

}  // namespace weir
