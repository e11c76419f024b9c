#include "testbed/loopback/lateness.h"

#include "datapath/api/rng.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

TEST(LatenessTest, IsZeroWithoutSamples) {
  EXPECT_EQ(Lateness().Quantile(0.99), Duration(0));
  EXPECT_EQ(Lateness().max(), Duration(0));
}

// 99 of a hundred are 5 ns; small durations are exact.
TEST(LatenessTest, AQuantileLeavesTheRestAbove) {
  Lateness late;
  for (int i = 0; i < 99; ++i) late.Add(Nanos(5));
  late.Add(Micros(7));
  EXPECT_EQ(late.Quantile(0.5), Nanos(5));
  EXPECT_EQ(late.Quantile(0.98), Nanos(5));
  EXPECT_EQ(late.Quantile(0.99), Micros(7));
  EXPECT_EQ(late.max(), Micros(7));
}

// One value fills one bucket: its upper edge is at most an eighth above it, and never above max.
TEST(LatenessTest, IsAtMostAnEighthTooLarge) {
  Rng rng(1);
  for (int i = 0; i < 10'000; ++i) {
    const Duration value(static_cast<int64_t>(rng.Next() >> (2 + rng.Below(60))));
    Lateness late;
    late.Add(value);
    late.Add(Duration::Max());
    EXPECT_GE(late.Quantile(0.4), value);
    EXPECT_LE(late.Quantile(0.4) - value, value / 8);
  }
}

}  // namespace
}  // namespace weir
