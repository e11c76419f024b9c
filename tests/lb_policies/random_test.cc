#include "lb_policies/random.h"

#include <gtest/gtest.h>

#include "tests/lb_policies/lb_support.h"

namespace weir {
namespace {

// Chi-square with 15 degrees of freedom, 99.9th percentile 37.7.
TEST(RandomTest, PathsAreDrawnUniformly) {
  Random lb(TestLb(16), {});
  std::vector<int> count(16);
  for (const PathId path : Pick(lb, 16'000)) ++count[path];
  double chi_square = 0;
  for (const int n : count) chi_square += (n - 1000.0) * (n - 1000.0) / 1000;
  EXPECT_LT(chi_square, 37.7);
}

// T-SPRAY-3, LB-19.2: what is to be expected of 512 to 8192 packets.
TEST(RandomTest, TheFullestLinkCarriesWhatARandomPlacementSays) {
  struct Row {
    uint32_t links;
    int packets;
    double max_over_mean;
  };
  for (const Row& row : {Row{8, 128, 1.36}, Row{8, 512, 1.18}, Row{8, 2048, 1.09},
                         Row{16, 1024, 1.22}, Row{32, 2048, 1.26}, Row{64, 4096, 1.30}}) {
    constexpr int kSeeds = 300;
    double sum = 0;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      Random lb(TestLb(row.links, seed), {});
      std::vector<int> load(row.links);
      for (const PathId path : Pick(lb, row.packets)) ++load[path];
      sum += MaxOverMean(load);
    }
    EXPECT_NEAR(sum / kSeeds, row.max_over_mean, 0.02) << row.links << ' ' << row.packets;
  }
}

// T-SPRAY-2: two connections meet once in 64 packets.
TEST(RandomTest, TwoConnectionsDoNotMoveInStep) {
  Random a(TestLb(64, 1), {});
  Random b(TestLb(64, 2), {});
  constexpr int kPackets = 64'000;
  const auto of_a = Pick(a, kPackets);
  const auto of_b = Pick(b, kPackets);
  int meetings = 0;
  for (int i = 0; i < kPackets; ++i) meetings += of_a[i] == of_b[i] ? 1 : 0;
  EXPECT_NEAR(meetings, 1000, 100);  // 3 sigma: 3 sqrt(1000)
}

TEST(RandomTest, APoolIsARunOfThatManyPaths) {
  Random lb(TestLb(1000, 5), {.pool = 7});
  std::vector<PathId> used = Pick(lb, 700);
  const PathId first = used[0];
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  EXPECT_EQ(used.size(), 7u);
  for (const PathId path : used) {
    const int apart = (path - first + 1000) % 1000;
    EXPECT_TRUE(apart < 7 || apart > 993) << path;
  }
}

TEST(RandomTest, APoolMayWrapAroundTheLastPath) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Random lb(TestLb(5, seed), {.pool = 4});
    for (const PathId path : Pick(lb, 100)) ASSERT_LT(path, 5);
  }
}

}  // namespace
}  // namespace weir
