#include "lb_policies/flowlet.h"

#include <gtest/gtest.h>

#include "tests/lb_policies/lb_support.h"

namespace weir {
namespace {

TEST(FlowletTest, APauseOfOneBaseRttIsNotLongEnough) {
  Flowlet lb(TestLb(65'536), {});
  const PathId path = lb.PickPath({.now = Time(0)});
  EXPECT_EQ(lb.PickPath({.now = Time(12'000)}), path);
  EXPECT_NE(lb.PickPath({.now = Time(24'001)}), path);  // 12001 ns after the last packet
}

// T-FLET-1: paths differ by at most 5 us, the pause is 6 us.
TEST(FlowletTest, NothingOvertakesIfThePauseExceedsTheSkew) {
  Rng rng(3);
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Flowlet lb(TestLb(8, seed), {.pause = Micros(6)});
    Time now{0};
    Time last_arrival{0};
    for (int i = 0; i < 1000; ++i) {
      now = now + Duration(83 + (rng.Chance(0.1) ? rng.Below(10'000) : 0));
      const PathId path = lb.PickPath({.now = now});
      const Time arrival = now + Micros(5) * path / 7;
      EXPECT_GE(arrival, last_arrival);
      last_arrival = arrival;
    }
    EXPECT_GT(lb.counters()[0], 10u);
  }
}

// T-FLET-2: with the shortest pause every packet draws; chi-square, 7 degrees, 99.9 %: 24.3.
TEST(FlowletTest, WithoutAPauseItIsARandomSpray) {
  Flowlet lb(TestLb(8), {.pause = Duration(1)});
  std::vector<int> load(8);
  int repeats = 0;
  PathId last = 0;
  for (const PathId path : Pick(lb, 8000)) {
    ++load[path];
    repeats += path == last ? 1 : 0;
    last = path;
  }
  double chi_square = 0;
  for (const int n : load) chi_square += (n - 1000.0) * (n - 1000.0) / 1000.0;
  EXPECT_LT(chi_square, 24.3);
  EXPECT_NEAR(repeats, 1000, 120);
}

// T-FLET-3
TEST(FlowletTest, AnOnOffSourceBeginsOneFlowletEachPause) {
  Flowlet lb(TestLb(64), {.pause = Micros(10)});
  Time now{0};
  for (int burst = 0; burst < 100; ++burst) {
    now = now + Micros(burst % 2 == 0 ? 11 : 10);  // every other pause is too short
    const PathId path = lb.PickPath({.now = now});
    for (int i = 1; i < 32; ++i) {
      now = now + Nanos(83);
      EXPECT_EQ(lb.PickPath({.now = now}), path);
    }
  }
  EXPECT_EQ(lb.counters()[0], 49u);  // the first burst is no change
}

}  // namespace
}  // namespace weir
