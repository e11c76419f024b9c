// Resampling: what it draws, how often its intervals hold, and that it repeats.
#include "testbed/experiment/bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "datapath/api/rng.h"
#include "testbed/experiment/statistics.h"

namespace weir {
namespace {

double Normal(Rng& rng) {
  return std::sqrt(-2 * std::log(1 - rng.Unit())) * std::cos(2 * std::numbers::pi * rng.Unit());
}

Resampled OfMean(const std::vector<double>& values) {
  return Bootstrap(values.size(), 0.95, [&](Weights weights) {
    double sum = 0;
    double n = 0;
    for (size_t i = 0; i < weights.size(); ++i) {
      sum += weights[i] * values[i];
      n += weights[i];
    }
    return sum / n;
  });
}

TEST(BootstrapTest, TheErrorOfAMeanIsTheClassicOne) {
  // Variance of 1..5 with n - 1: 2.5; standard error sqrt(2.5 / 5) = 0.7071.
  const Resampled r = OfMean({1, 2, 3, 4, 5});
  EXPECT_DOUBLE_EQ(r.estimate, 3);
  EXPECT_NEAR(r.error, std::sqrt(0.5), 0.02);
  EXPECT_NEAR(3 - r.low, r.high - 3, 0.21);  // symmetric values, but for the steps of resamples
}

TEST(BootstrapTest, TheSameValuesGiveTheSameInterval) {
  const std::vector<double> values = {3, 1, 4, 1, 5, 9};
  EXPECT_EQ(OfMean(values).low, OfMean(values).low);
  EXPECT_EQ(OfMean(values).high, OfMean(values).high);
}

TEST(BootstrapTest, NoSpreadIsNoInterval) {
  const Resampled r = OfMean({2, 2, 2, 2, 2});
  EXPECT_EQ(r.low, 2);
  EXPECT_EQ(r.high, 2);
  EXPECT_EQ(r.error, 0);
}

TEST(BootstrapTest, AHighOutlierDrawsTheIntervalUp) {
  const Resampled r = OfMean({1, 1.1, 0.9, 1, 1.05, 0.95, 1, 8});
  EXPECT_GT(r.high - r.estimate, 1.5 * (r.estimate - r.low));
}

// 95 % of 400 intervals is 380; a count of hits has a standard deviation of 4.4. Resamples of five
// values reach no further than these, so their intervals hold somewhat less often: 88 % at least.
TEST(BootstrapTest, IntervalsOfFewNormalValuesHoldTheMeanAsOftenAsTheySay) {
  for (const size_t n : {5u, 10u}) {
    Rng rng(n);
    int hits = 0;
    for (int i = 0; i < 400; ++i) {
      std::vector<double> values(n);
      for (double& v : values) v = Normal(rng);
      const Resampled r = OfMean(values);
      hits += r.low <= 0 && 0 <= r.high ? 1 : 0;
    }
    EXPECT_GE(hits, n == 5 ? 352 : 367) << n << " values";
    EXPECT_LE(hits, 393) << n << " values";
  }
}

TEST(PooledPercentileTest, DrawnOnceItIsTheNearestRankOfAllValues) {
  std::vector<double> all;
  std::vector<std::vector<double>> clusters(3);
  for (int i = 0; i < 250; ++i) {
    all.push_back(i * 7 % 251);
    clusters[static_cast<size_t>(i % 3)].push_back(all.back());
  }
  const uint32_t once[] = {1, 1, 1};
  EXPECT_EQ(PooledPercentile(clusters, 99).Of(once), Summarize(all).p99);
  EXPECT_EQ(PooledPercentile(clusters, 50).Of(once), Summarize(all).median);
}

TEST(PooledPercentileTest, WeightsRepeatAndLeaveOutClusters) {
  const PooledPercentile p50({{1, 2, 3}, {10, 20, 30}}, 50);
  const uint32_t first_twice[] = {2, 0};
  EXPECT_EQ(p50.Of(first_twice), 2);
  const uint32_t second_twice[] = {0, 2};
  EXPECT_EQ(p50.Of(second_twice), 20);
  const uint32_t both[] = {1, 1};
  EXPECT_EQ(p50.Of(both), 3);  // rank ceil(0.5 x 6) = 3
  const uint32_t nothing[] = {0, 0};
  EXPECT_EQ(p50.Of(nothing), 0);
}

// 10 seeds of 8 transfers: the p99 of all 80 is the largest. Of 400 comparisons of equals, 5 % are
// 20, with a standard deviation of 4.4.
TEST(ComparePercentilesTest, EqualsAreToldApartNoMoreOftenThanItSaysEvenByTheirMaximum) {
  Rng rng(11);
  int shown = 0;
  for (int i = 0; i < 400; ++i) {
    std::vector<std::vector<double>> sides[2];
    for (auto& seeds : sides) {
      for (int seed = 0; seed < 10; ++seed) {
        std::vector<double>& values = seeds.emplace_back(8);
        for (double& v : values) v = std::exp(0.5 * Normal(rng));
      }
    }
    shown += ComparePercentiles(sides[0], sides[1], 99).p <= 0.05 ? 1 : 0;
  }
  EXPECT_LE(shown, 29);
}

TEST(ComparePercentilesTest, AShiftOfTheTailIsSeenWhereMeansAreEqual) {
  // 100 values a seed; those of b have the same sum, and two that are far out.
  std::vector<std::vector<double>> a;
  std::vector<std::vector<double>> b;
  for (int seed = 0; seed < 6; ++seed) {
    std::vector<double> values(100, 100 + seed * 0.1);
    a.push_back(values);
    values[0] = values[1] = 149;
    for (size_t i = 2; i < 100; ++i) values[i] -= 1;
    b.push_back(values);
  }
  const PairedDifference d = ComparePercentiles(a, b, 99);
  EXPECT_NEAR(d.difference, 49 - 0.5, 1e-9);  // p99 of a is of seed 5: 100.5
  EXPECT_TRUE(d.shown);
  EXPECT_LT(d.p, 0.001);
}

}  // namespace
}  // namespace weir
