#include "lb_policies/path_run.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(PathRunTest, IndexAndPathAreInverseAndOthersLieBeyond) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng(seed);
    const PathRun run(11, 4, rng);
    ASSERT_EQ(run.size(), 4u);
    uint32_t inside = 0;
    for (PathId path = 0; path < 11; ++path) {
      const uint32_t index = run.IndexOf(path);
      if (index >= run.size()) continue;
      ++inside;
      EXPECT_EQ(run.At(index), path);
    }
    EXPECT_EQ(inside, 4u);
  }
}

TEST(PathRunTest, NoneOrTooManyAreAll) {
  Rng rng(1);
  EXPECT_EQ(PathRun(65'536, 0, rng).size(), 65'536u);
  EXPECT_EQ(PathRun(3, 64, rng).size(), 3u);
}

}  // namespace
}  // namespace weir
