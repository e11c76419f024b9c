#include "lb_policies/ev_set.h"

#include <gtest/gtest.h>

#include "tests/lb_policies/lb_support.h"

namespace weir {
namespace {

constexpr uint32_t kPaths = 64;

class EvSetTest : public testing::Test {
 protected:
  enum Counter { kSkipped, kBad, kReplaced };

  EvSet Make(const EvSet::Config& config) {
    LbInfo info = TestLb(kPaths);
    info.health = &health_;
    return EvSet(info, config);
  }
  static std::vector<int> Uses(EvSet& lb, int packets) {
    std::vector<int> uses(kPaths);
    for (const PathId path : Pick(lb, packets)) ++uses[path];
    return uses;
  }
  // The core tells health first, then the policy.
  void Tell(EvSet& lb, PathId path, PathEvent event) {
    health_.OnFeedback({.path = path, .event = event});
    lb.OnFeedback({.path = path, .event = event});
  }

  PathHealth health_{kPaths, Micros(24)};
};

TEST_F(EvSetTest, EachPassUsesTheActiveValuesOnce) {
  EvSet lb = Make({.active = 16, .backups = 8});
  for (int pass = 0; pass < 3; ++pass) {
    const auto uses = Uses(lb, 16);
    EXPECT_EQ(std::count(uses.begin(), uses.end(), 1), 16);
  }
}

TEST_F(EvSetTest, MarkedTrimmedOrLostIsSkippedOnce) {
  for (const PathEvent event : {PathEvent::kMarked, PathEvent::kTrimmed, PathEvent::kLost}) {
    EvSet lb = Make({.active = kPaths});
    lb.OnFeedback({.path = 9, .event = event});
    EXPECT_EQ(Uses(lb, kPaths - 1)[9], 0);
    EXPECT_EQ(lb.counters()[kSkipped], 1u);
    EXPECT_EQ(Uses(lb, kPaths)[9], 1);
  }
}

TEST_F(EvSetTest, LastHopTrimsNeverCount) {
  EvSet lb = Make({.active = kPaths});
  for (int i = 0; i < 10; ++i) Tell(lb, 9, PathEvent::kTrimmedLastHop);
  EXPECT_EQ(Uses(lb, kPaths)[9], 1);
}

TEST_F(EvSetTest, ABackupReplacesABadValueUntilItIsGoodAgain) {
  EvSet lb = Make({.active = 16, .backups = 8});
  const auto before = Uses(lb, 16);
  const auto bad = static_cast<PathId>(std::find(before.begin(), before.end(), 1) - before.begin());
  Tell(lb, bad, PathEvent::kTimeout);
  const auto during = Uses(lb, 160);
  EXPECT_EQ(during[bad], 0);
  EXPECT_EQ(std::count(during.begin(), during.end(), 10), 16);  // fifteen and a backup
  EXPECT_EQ(lb.counters()[kReplaced], 10u);
  Tell(lb, bad, PathEvent::kGood);  // it had arrived
  EXPECT_EQ(Uses(lb, 160)[bad], 10);
}

TEST_F(EvSetTest, WithoutBackupsTheOthersTakeItsShare) {
  EvSet lb = Make({.active = kPaths});
  Tell(lb, 9, PathEvent::kTimeout);
  const auto uses = Uses(lb, 630);
  for (PathId path = 0; path < kPaths; ++path) {
    EXPECT_EQ(uses[path], path == 9 ? 0 : 10) << path;
  }
}

// Half of sixteen stay in each pass, whatever happens.
TEST_F(EvSetTest, AMinimumOfValuesStaysInUse) {
  EvSet lb = Make({.active = 16, .backups = 0});
  for (PathId path = 0; path < kPaths; ++path)
    lb.OnFeedback({.path = path, .event = PathEvent::kMarked});
  Uses(lb, 8);  // of sixteen values eight are skipped and eight used, marked as they are
  EXPECT_EQ(lb.counters()[kSkipped], 8u);
}

TEST_F(EvSetTest, DeniedPathsAreNeverUsed) {
  EvSet lb = Make({.active = kPaths, .denied_first = 60, .denied = 8});  // 60 .. 63, 0 .. 3
  const auto uses = Uses(lb, 56 * 10);
  for (PathId path = 0; path < kPaths; ++path) {
    EXPECT_EQ(uses[path], path >= 60 || path < 4 ? 0 : 10) << path;
  }
}

TEST_F(EvSetTest, OnePathIsAlwaysAllowed) {
  EvSet lb = Make({.denied_first = 10, .denied = 65'535});
  const auto uses = Uses(lb, 10);
  EXPECT_EQ(std::count(uses.begin(), uses.end(), 10), 1);
}

TEST_F(EvSetTest, WhatIsSentAgainTakesAnotherValue) {
  EvSet lb = Make({.active = 2, .backups = 0});
  const auto all = Uses(lb, 2);
  const auto path = static_cast<PathId>(std::find(all.begin(), all.end(), 1) - all.begin());
  for (int i = 0; i < 10; ++i) {
    EXPECT_NE(lb.PickPath({.retransmit = true, .lost_on = path}), path);
  }
}

}  // namespace
}  // namespace weir
