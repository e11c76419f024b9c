#include "testbed/experiment/bootstrap.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "datapath/api/rng.h"

namespace weir {
namespace {

constexpr size_t kResamples = 4000;
constexpr uint64_t kSeed = 0x5EED0FB007;

double NormalCdf(double z) { return boost::math::cdf(boost::math::normal(), z); }

// Of the bias: how many standard deviations the estimate is off the median of the resamples.
double BiasCorrection(const std::vector<double>& sorted, double estimate) {
  const auto [first, last] = std::ranges::equal_range(sorted, estimate);
  const double below = static_cast<double>(first - sorted.begin());
  const double ties = static_cast<double>(last - first);
  const double n = static_cast<double>(sorted.size());
  const double share = std::clamp((below + ties / 2) / n, 1 / n, 1 - 1 / n);
  return boost::math::quantile(boost::math::normal(), share);
}

// Of the skew: the change of the standard deviation with the estimate, by leaving out each cluster.
double Acceleration(size_t clusters, Statistic statistic) {
  std::vector<uint32_t> weights(clusters, 1);
  std::vector<double> left_out(clusters);
  for (size_t i = 0; i < clusters; ++i) {
    weights[i] = 0;
    left_out[i] = statistic(weights);
    weights[i] = 1;
  }
  const double mean =
      std::accumulate(left_out.begin(), left_out.end(), 0.0) / static_cast<double>(clusters);
  double squares = 0;
  double cubes = 0;
  for (const double v : left_out) {
    squares += (mean - v) * (mean - v);
    cubes += (mean - v) * (mean - v) * (mean - v);
  }
  return squares == 0 ? 0 : cubes / (6 * std::pow(squares, 1.5));
}

// The value below which a share of Phi(adjusted z) of the resamples lies.
double Endpoint(const std::vector<double>& sorted, double z, double bias, double acceleration) {
  const double shifted = bias + z;
  // Beyond the pole the tail is the whole of it.
  const double room = 1 - acceleration * shifted;
  const double adjusted = room <= 0 ? std::copysign(8.0, shifted) : bias + shifted / room;
  const double n = static_cast<double>(sorted.size());
  const double rank = std::clamp(std::floor(NormalCdf(adjusted) * n), 0.0, n - 1);
  return sorted[static_cast<size_t>(rank)];
}

}  // namespace

Resampled Bootstrap(size_t clusters, double level, Statistic statistic) {
  const double n = static_cast<double>(clusters);
  std::vector<uint32_t> weights(clusters, 1);
  Resampled result{.estimate = statistic(weights)};

  Rng rng(kSeed);
  std::vector<double> resamples(kResamples);
  for (double& resample : resamples) {
    std::ranges::fill(weights, 0);
    for (size_t i = 0; i < clusters; ++i) ++weights[rng.Below(static_cast<uint32_t>(clusters))];
    resample = statistic(weights);
  }
  std::ranges::sort(resamples);
  const double mean =
      std::accumulate(resamples.begin(), resamples.end(), 0.0) / static_cast<double>(kResamples);
  double squares = 0;
  for (const double v : resamples) squares += (v - mean) * (v - mean);
  result.error = std::sqrt(squares / static_cast<double>(kResamples) * n / (n - 1));

  const double bias = BiasCorrection(resamples, result.estimate);
  const double acceleration = Acceleration(clusters, statistic);
  const double t = boost::math::quantile(boost::math::students_t(n - 1), 1 - (1 - level) / 2);
  const double z = t * std::sqrt(n / (n - 1));
  result.low = Endpoint(resamples, -z, bias, acceleration);
  result.high = Endpoint(resamples, z, bias, acceleration);
  return result;
}

PooledPercentile::PooledPercentile(std::vector<std::vector<double>> clusters, size_t percent)
    : percent_(percent) {
  for (uint32_t c = 0; c < clusters.size(); ++c) {
    sizes_.push_back(clusters[c].size());
    for (const double value : clusters[c]) values_.push_back({value, c});
  }
  std::ranges::sort(values_, std::greater<>(), &Value::value);
}

double PooledPercentile::Of(Weights weights) const {
  uint64_t total = 0;
  for (size_t c = 0; c < sizes_.size(); ++c) total += weights[c] * sizes_[c];
  if (total == 0) return 0;
  // The nearest rank from below, counted from above.
  const uint64_t rank = total - (total * percent_ + 99) / 100 + 1;
  uint64_t seen = 0;
  for (const Value& v : values_) {
    seen += weights[v.cluster];
    if (seen >= rank) return v.value;
  }
  return values_.back().value;
}

}  // namespace weir
