// Penalties on a slow path: bitmap and mixed, as in uet-htsim `uec_mp.cpp`.
#include "lb_policies/bitmap.h"

#include "gtest/gtest.h"
#include "tests/support/slow_path.h"

namespace weir {
namespace {

// T-BMP-3: as T-REPS-4.
TEST(BitmapScenario, APathOfATenthIsDownToItsShareWithinTenRtts) {
  EXPECT_LT(Measured("bitmap", ShareOfASlowPath("bitmap")), 0.03);
  EXPECT_LT(Measured("mixed", ShareOfASlowPath("mixed")), 0.03);
}

}  // namespace
}  // namespace weir
