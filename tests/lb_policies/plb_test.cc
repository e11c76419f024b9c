#include "lb_policies/plb.h"

#include <gtest/gtest.h>

#include "tests/lb_policies/lb_support.h"

namespace weir {
namespace {

enum Counter { kIdle, kForced, kTimeout };

class PlbTest : public testing::Test {
 protected:
  explicit PlbTest(const Plb::Config& config = {}) : lb_(TestLb(65'536), config) {}

  PathId Pick(Bytes in_flight = KiB(64)) {
    return lb_.PickPath({.now = now_, .in_flight = in_flight});
  }
  void Tell(PathEvent event) {
    lb_.OnFeedback({.now = now_, .path = Pick(), .event = event, .rtt = Micros(12)});
  }
  // Round trips of ten packets, so many of them marked.
  void Rounds(int n, int marked) {
    for (int round = 0; round < n; ++round) {
      for (int i = 0; i < 10; ++i) Tell(i < marked ? PathEvent::kMarked : PathEvent::kGood);
      now_ = now_ + Micros(12);
    }
  }
  uint64_t Count(Counter counter) const { return lb_.counters()[counter]; }

  Plb lb_;
  Time now_{1'000'000};
};

// T-PLB-1: the last packet of a round comes before its end is seen, by the first of the next.
TEST_F(PlbTest, TwelveCongestedRoundsMoveItOnce) {
  const PathId path = Pick();
  Rounds(12, 5);
  EXPECT_EQ(Pick(), path);
  Tell(PathEvent::kGood);  // the twelfth is over
  EXPECT_NE(Pick(), path);
  EXPECT_EQ(Count(kForced), 1u);
  Rounds(11, 5);
  EXPECT_EQ(Count(kForced), 1u);  // the count began again
}

TEST_F(PlbTest, OneRoundBelowTheShareStartsTheCountAgain) {
  Rounds(11, 5);
  Rounds(1, 4);
  Rounds(12, 5);
  EXPECT_EQ(Count(kForced), 0u);
  Tell(PathEvent::kGood);
  Pick();
  EXPECT_EQ(Count(kForced), 1u);
}

// T-PLB-2.
TEST_F(PlbTest, ThreeCongestedRoundsAndAPauseMoveIt) {
  Rounds(2, 10);
  Tell(PathEvent::kMarked);
  Pick(Bytes(0));
  EXPECT_EQ(Count(kIdle), 0u);  // two
  Rounds(1, 10);
  Tell(PathEvent::kMarked);
  const PathId path = Pick();
  EXPECT_EQ(Count(kIdle), 0u);  // three, but packets in flight
  EXPECT_NE(Pick(Bytes(0)), path);
  EXPECT_EQ(Count(kIdle), 1u);
}

// T-PLB-3: suspended for 60 to 120 s.
TEST_F(PlbTest, ATimeoutMovesItAndSuspendsCongestion) {
  const PathId path = Pick();
  Tell(PathEvent::kTimeout);
  EXPECT_NE(Pick(), path);
  EXPECT_EQ(Count(kTimeout), 1u);
  Rounds(50, 10);
  EXPECT_EQ(Count(kForced), 0u);
  now_ = now_ + Seconds(59);
  Rounds(1, 10);
  EXPECT_EQ(Count(kForced), 0u);
  now_ = now_ + Seconds(61);
  Pick();
  EXPECT_EQ(Count(kForced), 1u);
}

TEST_F(PlbTest, OneTimeoutOfManyPacketsIsOneMove) {
  const PathId path = Pick();
  for (int i = 0; i < 5; ++i) {
    lb_.OnFeedback({.now = now_, .path = path, .event = PathEvent::kTimeout});
  }
  EXPECT_EQ(Count(kTimeout), 1u);
}

TEST_F(PlbTest, NewsOfAnotherPathDoesNotCount) {
  const PathId path = Pick();
  for (int i = 0; i < 100; ++i) {
    lb_.OnFeedback(
        {.now = now_, .path = static_cast<PathId>(path + 1), .event = PathEvent::kMarked});
    now_ = now_ + Micros(12);
  }
  EXPECT_EQ(Pick(Bytes(0)), path);
}

// T-PLB-4: two connections on the same one of two paths mark each other. After twelve rounds both
// draw anew, and are apart with probability 1/2: two attempts on average, so 24 rounds. Of 2000
// pairs the mean has a deviation of 12 sqrt(2 / 2000); ten packets a round see its end within a
// tenth.
TEST(PlbPairTest, TwoThatMeetPartAfterTwoAttempts) {
  constexpr int kPairs = 2000;
  constexpr int kPackets = 10;
  int packets = 0;
  int pairs = 0;
  for (uint64_t seed = 0; pairs < kPairs; ++seed) {
    Plb a(TestLb(2, 2 * seed), {});
    Plb b(TestLb(2, 2 * seed + 1), {});
    TxContext tx{.now = Time(1'000'000), .in_flight = KiB(64)};
    if (a.PickPath(tx) == b.PickPath(tx)) ++pairs;
    for (; a.PickPath(tx) == b.PickPath(tx); ++packets) {
      for (Plb* lb : {&a, &b}) {
        lb->OnFeedback({.now = tx.now,
                        .path = lb->PickPath(tx),
                        .event = PathEvent::kMarked,
                        .rtt = Micros(12)});
      }
      tx.now = tx.now + Micros(12) / kPackets;
    }
  }
  EXPECT_NEAR(1.0 * packets / kPackets / kPairs, 24, 3 * 0.38);
}

}  // namespace
}  // namespace weir
