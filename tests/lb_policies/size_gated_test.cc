#include "lb_policies/size_gated.h"

#include <gtest/gtest.h>

#include "lb_policies/ecmp.h"
#include "lb_policies/reps.h"
#include "tests/lb_policies/lb_support.h"

namespace weir {
namespace {

using Gated = SizeGated<Ecmp, Reps>;

// One BDP of the test's connection is 40960 bytes.
TEST(SizeGatedTest, AMessageOfOneBdpIsLong) {
  Gated lb(TestLb(65'536), {});
  const PathId pinned = lb.PickPath({.message_size = Bytes(40'959)});
  for (int i = 0; i < 20; ++i) EXPECT_EQ(lb.PickPath({.message_size = Bytes(40'959)}), pinned);
  EXPECT_NE(lb.PickPath({.message_size = Bytes(40'960)}),
            lb.PickPath({.message_size = Bytes(40'960)}));
  EXPECT_EQ(lb.counters()[0], 21u);
  EXPECT_EQ(lb.counters()[1], 2u);
}

TEST(SizeGatedTest, TheSizeCanBeGiven) {
  Gated lb(TestLb(65'536), {.below = Bytes(100)});
  lb.PickPath({.message_size = Bytes(99)});
  lb.PickPath({.message_size = Bytes(100)});
  EXPECT_EQ(lb.counters()[0], 1u);
  EXPECT_EQ(lb.counters()[1], 1u);
}

TEST(SizeGatedTest, BothHearOfEveryPacket) {
  Gated lb(TestLb(65'536),
           {.of_short = {.redraw_on_timeout = true}, .of_long = {.explore_packets = 1}});
  const PathId pinned = lb.PickPath({.message_size = Bytes(1)});
  lb.PickPath({.message_size = MiB(1)});  // explores
  lb.OnFeedback({.path = 77, .event = PathEvent::kGood});
  EXPECT_EQ(lb.PickPath({.message_size = MiB(1)}), 77);
  lb.OnFeedback({.path = pinned, .event = PathEvent::kTimeout});
  EXPECT_NE(lb.PickPath({.message_size = Bytes(1)}), pinned);
}

}  // namespace
}  // namespace weir
