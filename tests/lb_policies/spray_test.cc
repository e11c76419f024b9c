// Round robin and oblivious spraying: what they share, and what tells them apart.
#include <gtest/gtest.h>

#include <numeric>

#include "lb_policies/oblivious.h"
#include "lb_policies/round_robin.h"
#include "tests/lb_policies/lb_support.h"

namespace weir {
namespace {

// Names a policy to the test framework, which would ask the class itself for run-time type
// information that it is built without.
template <class T>
struct Named {
  using Policy = T;
};
template <class Name>
class SprayTest : public testing::Test {};
using Sprays = testing::Types<Named<RoundRobin>, Named<Oblivious>>;
TYPED_TEST_SUITE(SprayTest, Sprays);

// T-SPRAY-1
TYPED_TEST(SprayTest, EachPassUsesEveryPathOnce) {
  for (const uint32_t paths : {1u, 2u, 3u, 5u, 8u, 9u, 64u, 100u, 128u, 1000u}) {
    typename TypeParam::Policy lb(TestLb(paths, paths), {});
    for (int pass = 0; pass < 5; ++pass) {
      std::vector<PathId> used = Pick(lb, static_cast<int>(paths));
      std::sort(used.begin(), used.end());
      std::vector<PathId> all(paths);
      std::iota(all.begin(), all.end(), PathId{0});
      ASSERT_EQ(used, all) << paths << " paths, pass " << pass;
    }
  }
}

// T-SPRAY-2: two connections choose the same path at the same time once in `paths`.
TYPED_TEST(SprayTest, TwoConnectionsDoNotMoveInStep) {
  constexpr int kPaths = 64;
  constexpr int kPairs = 2000;
  int meetings = 0;
  for (uint64_t pair = 0; pair < kPairs; ++pair) {
    typename TypeParam::Policy a(TestLb(kPaths, 2 * pair), {});
    typename TypeParam::Policy b(TestLb(kPaths, 2 * pair + 1), {});
    const auto of_a = Pick(a, kPaths);
    const auto of_b = Pick(b, kPaths);
    for (int i = 0; i < kPaths; ++i) meetings += of_a[i] == of_b[i] ? 1 : 0;
  }
  EXPECT_NEAR(1.0 * meetings / kPairs, 1.0, 0.15);  // one meeting a pass of 64
}

TYPED_TEST(SprayTest, ConnectionsStartAnywhere) {
  std::vector<int> first(8);
  for (uint64_t seed = 0; seed < 8000; ++seed) {
    ++first[typename TypeParam::Policy(TestLb(8, seed), {}).PickPath({})];
  }
  for (const int n : first) EXPECT_NEAR(n, 1000, 120);  // 4 sigma: 4 sqrt(1000 * 7/8)
}

// A run can be replayed.
TYPED_TEST(SprayTest, TheSameSeedGivesTheSamePaths) {
  typename TypeParam::Policy a(TestLb(100, 5), {});
  typename TypeParam::Policy b(TestLb(100, 5), {});
  EXPECT_EQ(Pick(a, 1000), Pick(b, 1000));
}

TYPED_TEST(SprayTest, APoolUsesThatManyPaths) {
  typename TypeParam::Policy lb(TestLb(1000), {.pool = 7});
  std::vector<PathId> used = Pick(lb, 700);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  EXPECT_EQ(used.size(), 7u);
}

TYPED_TEST(SprayTest, APoolLargerThanTheNumberOfPathsIsAllOfThem) {
  typename TypeParam::Policy lb(TestLb(3), {.pool = 64});
  for (const PathId path : Pick(lb, 100)) EXPECT_LT(path, 3);
}

// 2048 packets on 8 links named by the path: 256 each.
TYPED_TEST(SprayTest, NamedLinksAreLoadedEqually) {
  typename TypeParam::Policy lb(TestLb(8), {});
  std::vector<int> load(8);
  for (const PathId path : Pick(lb, 2048)) ++load[path];
  EXPECT_LE(MaxOverMean(load), 1.004);
}

// T-SPRAY-3: a small pool on hashed links is not uniform, however regular its use.
// LB-19.3
TYPED_TEST(SprayTest, APoolOf256OnThirtyTwoHashedLinksLoadsTheWorstByFourFifthsMore) {
  constexpr int kSeeds = 200;
  double sum = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    typename TypeParam::Policy lb(TestLb(65'536, seed), {.pool = 256});
    std::vector<int> load(32);
    for (const PathId path : Pick(lb, 4 * 256)) ++load[HashToLink(path, 32, seed)];
    sum += MaxOverMean(load);
  }
  EXPECT_NEAR(sum / kSeeds, 1.80, 0.15);
}

// T-SPRAY-3: with many more values than packets it is a random spray.
TEST(ObliviousTest, ManyValuesOnHashedLinksAreARandomSpray) {
  struct Row {
    uint32_t links;
    int packets;
    double max_over_mean;
  };
  for (const Row& row : {Row{8, 512, 1.18}, Row{8, 2048, 1.09}, Row{16, 1024, 1.22}}) {
    constexpr int kSeeds = 200;
    double sum = 0;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      Oblivious lb(TestLb(65'536, seed), {});
      std::vector<int> load(row.links);
      for (const PathId path : Pick(lb, row.packets)) ++load[HashToLink(path, row.links, seed)];
      sum += MaxOverMean(load);
    }
    EXPECT_NEAR(sum / kSeeds, row.max_over_mean, 0.02) << row.links << ' ' << row.packets;
  }
}

TEST(ObliviousTest, EachPassHasAnOrderOfItsOwn) {
  Oblivious lb(TestLb(64), {});
  const auto first = Pick(lb, 64);
  const auto second = Pick(lb, 64);
  EXPECT_NE(first, second);
}

TEST(RoundRobinTest, EachPassRepeatsTheOrder) {
  RoundRobin lb(TestLb(64), {});
  const auto first = Pick(lb, 64);
  EXPECT_EQ(Pick(lb, 64), first);
}

}  // namespace
}  // namespace weir
