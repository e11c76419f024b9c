#include "cc_algos/none.h"

#include <gtest/gtest.h>

#include "tests/support/cc_driver.h"

namespace weir {
namespace {

TEST(NoneTest, TheDefaultIsOneBdpWithoutPacing) {
  const None cc(kTestFlow, {});
  EXPECT_EQ(cc.allowance().window, Bytes(150'000));  // 100 Gb/s * 12 us / 8
  EXPECT_EQ(cc.allowance().rate, Rate::Max());
}

TEST(NoneTest, WindowAndRateAreThoseConfigured) {
  const None cc(kTestFlow, {.window = KiB(64), .rate = Gbps(10)});
  EXPECT_EQ(cc.allowance().window, KiB(64));
  EXPECT_EQ(cc.allowance().rate, Gbps(10));
}

TEST(NoneTest, TheWindowHoldsAtLeastOnePacket) {
  EXPECT_EQ(None(kTestFlow, {.window = Bytes(100)}).allowance().window, Bytes(4096));
}

TEST(NoneTest, NothingChangesIt) {
  None cc(kTestFlow, {});
  CcDriver driver(cc);
  Rng rng(1);
  for (int i = 0; i < 500; ++i) driver.RandomEvent(rng);
  EXPECT_EQ(cc.allowance().window, Bytes(150'000));
  EXPECT_EQ(cc.allowance().rate, Rate::Max());
}

}  // namespace
}  // namespace weir
