#include "testbed/experiment/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace weir {
namespace {

TEST(SummarizeTest, NothingIsAllZero) {
  const Summary summary = Summarize({});
  EXPECT_EQ(summary.count, 0u);
  EXPECT_EQ(summary.mean, 0);
  EXPECT_EQ(summary.max, 0);
}

TEST(SummarizeTest, OneValueIsEveryPercentile) {
  const double values[] = {7};
  const Summary summary = Summarize(values);
  EXPECT_EQ(summary.median, 7);
  EXPECT_EQ(summary.p99, 7);
  EXPECT_EQ(summary.min, 7);
  EXPECT_EQ(summary.max, 7);
}

TEST(SummarizeTest, OrderDoesNotMatter) {
  const double values[] = {5, 1, 4, 2};
  const Summary summary = Summarize(values);
  EXPECT_EQ(summary.count, 4u);
  EXPECT_EQ(summary.mean, 3);    // 12 / 4
  EXPECT_EQ(summary.median, 2);  // rank ceil(0.5 x 4) = 2
  EXPECT_EQ(summary.p99, 5);     // rank ceil(0.99 x 4) = 4
  EXPECT_EQ(summary.min, 1);
  EXPECT_EQ(summary.max, 5);
}

TEST(SummarizeTest, PercentilesAreTheNearestRank) {
  std::vector<double> values(100);
  std::iota(values.begin(), values.end(), 1);
  EXPECT_EQ(Summarize(values).p99, 99);  // rank 99
  EXPECT_EQ(Summarize(values).median, 50);
  values.push_back(101);
  EXPECT_EQ(Summarize(values).p99, 100);    // rank ceil(99.99) = 100
  EXPECT_EQ(Summarize(values).median, 51);  // rank ceil(50.5) = 51
}

TEST(JainIndexTest, IsOneForEqualSharesAndOneNthForOneTaker) {
  const double equal[] = {3, 3, 3, 3};
  EXPECT_DOUBLE_EQ(JainIndex(equal), 1);
  const double one[] = {8, 0, 0, 0};
  EXPECT_DOUBLE_EQ(JainIndex(one), 0.25);
  const double two[] = {1, 3};
  EXPECT_DOUBLE_EQ(JainIndex(two), 0.8);  // 4^2 / (2 x 10)
}

TEST(JainIndexTest, NothingAndAllZeroAreFair) {
  EXPECT_EQ(JainIndex({}), 1);
  const double zeros[] = {0, 0};
  EXPECT_EQ(JainIndex(zeros), 1);
}

TEST(ComparePairedTest, TheIntervalIsStudents) {
  // Differences 1, 2, 3, 4: mean 2.5, variance 5/3, standard error sqrt(5/12) = 0.645497.
  // t(0.975, 3) = 3.182446, so +- 2.054260.
  const double a[] = {10, 10, 10, 10};
  const double b[] = {11, 12, 13, 14};
  const PairedDifference d = ComparePaired(a, b);
  EXPECT_EQ(d.pairs, 4u);
  EXPECT_DOUBLE_EQ(d.mean_a, 10);
  EXPECT_DOUBLE_EQ(d.mean_b, 12.5);
  EXPECT_DOUBLE_EQ(d.difference, 2.5);
  EXPECT_NEAR(d.low, 2.5 - 3.182446 * std::sqrt(5.0 / 12), 1e-5);
  EXPECT_NEAR(d.high, 2.5 + 3.182446 * std::sqrt(5.0 / 12), 1e-5);
  EXPECT_TRUE(d.shown);
}

TEST(ComparePairedTest, ADifferenceIsShownOnceTheIntervalLeavesZero) {
  // Three differences m - 1, m, m + 1: +- t(0.975, 2) / sqrt(3) = 4.302653 / 1.732051 = 2.484138.
  const double a[] = {0, 0, 0};
  const double just_below[] = {1.48, 2.48, 3.48};
  EXPECT_FALSE(ComparePaired(a, just_below).shown);
  const double just_above[] = {1.49, 2.49, 3.49};
  EXPECT_TRUE(ComparePaired(a, just_above).shown);
  EXPECT_TRUE(ComparePaired(just_above, a).shown);  // a negative difference too
}

TEST(ComparePairedTest, PairingRemovesWhatBothShare) {
  // Runs differ by tens, arms by 1.0 to 1.2 in every run.
  const double a[] = {10, 50, 90};
  const double b[] = {11, 51.1, 91.2};
  EXPECT_TRUE(ComparePaired(a, b).shown);
}

TEST(ComparePairedTest, TwoPairsShowNothingUnlessTheyAgree) {
  const double a[] = {1, 2};
  const double nearly[] = {2, 3.001};  // the interval excludes zero, but two are too few
  EXPECT_GT(ComparePaired(a, nearly).low, 0);
  EXPECT_FALSE(ComparePaired(a, nearly).shown);
  const double same[] = {1.3, 2.3};  // 0.3 up to rounding
  EXPECT_TRUE(ComparePaired(a, same).shown);
}

TEST(ComparePairedTest, OnePairHasNoIntervalAndShowsNothing) {
  const double a[] = {1};
  const double b[] = {4};
  const PairedDifference d = ComparePaired(a, b);
  EXPECT_EQ(d.low, 3);
  EXPECT_EQ(d.high, 3);
  EXPECT_FALSE(d.shown);
}

TEST(ComparePairedTest, EqualMeasurementsShowNothing) {
  const double a[] = {5, 6, 7};
  const PairedDifference d = ComparePaired(a, a);
  EXPECT_EQ(d.low, 0);
  EXPECT_EQ(d.high, 0);
  EXPECT_FALSE(d.shown);
}

TEST(ComparePairedTest, NothingIsAllZeroAndExtraValuesAreLeftOut) {
  EXPECT_EQ(ComparePaired({}, {}).pairs, 0u);
  EXPECT_FALSE(ComparePaired({}, {}).shown);
  const double a[] = {1, 2};
  const double b[] = {2, 3, 100};
  EXPECT_EQ(ComparePaired(a, b).pairs, 2u);
  EXPECT_EQ(ComparePaired(a, b).mean_b, 2.5);
}

}  // namespace
}  // namespace weir
