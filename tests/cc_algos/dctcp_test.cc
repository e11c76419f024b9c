#include "cc_algos/dctcp.h"

#include <gtest/gtest.h>

#include "tests/support/cc_driver.h"

namespace weir {
namespace {

constexpr Bytes kBdp{150'000};
constexpr Bytes kMtu{4096};

class DctcpTest : public testing::Test {
 protected:
  Bytes window() const { return cc_.allowance().window; }

  Dctcp cc_{kTestFlow, {}};
  CcDriver driver_{cc_};
};

TEST_F(DctcpTest, StartsAtOneBdpWithoutPacing) {
  EXPECT_EQ(window(), kBdp);
  EXPECT_EQ(cc_.allowance().rate, Rate::Max());
  EXPECT_EQ(cc_.alpha(), 1.0);
}

// T-DCTCP: alpha.
TEST_F(DctcpTest, AlphaFollowsTheMarkedFraction) {
  for (int i = 0; i < 100; ++i) driver_.Round({.acked = KiB(64), .marked = KiB(16)});
  // Each round: alpha <- 15/16 alpha + 1/16 * 1/4. The 100th round is not over.
  EXPECT_NEAR(cc_.alpha(), 0.2513, 0.0001);  // 1/4 + 3/4 (15/16)^99
}

TEST_F(DctcpTest, AlphaChangesOnceARoundHoweverManyAcknowledgements) {
  driver_.Send(KiB(64));
  driver_.Advance(kTestFlow.base_rtt);
  for (int i = 0; i < 16; ++i) driver_.Ack(KiB(4), Bytes(0), kTestFlow.base_rtt);
  EXPECT_EQ(cc_.alpha(), 1.0);
  driver_.Round({.acked = KiB(4)});
  EXPECT_EQ(cc_.alpha(), 15.0 / 16);  // M = 0 over the whole first round
}

// T-DCTCP: cut.
TEST_F(DctcpTest, TheFirstMarkOfANewConnectionHalvesTheWindow) {
  driver_.Round({.acked = kMtu, .marked = kMtu});
  EXPECT_EQ(window(), kBdp / 2);  // alpha = 1: 1 - 1/2
}

TEST_F(DctcpTest, TheCutIsHalfOfAlpha) {
  for (int i = 0; i < 3; ++i) driver_.Round({.acked = kMtu});  // alpha = (15/16)^2 in the third
  driver_.Send(kMtu);
  driver_.Advance(kTestFlow.base_rtt);
  const Bytes before = window();
  driver_.Ack(kMtu, kMtu, kTestFlow.base_rtt);  // starts the fourth: alpha = (15/16)^3 = 0.823975
  EXPECT_EQ(window(), Scaled(before, 1 - 0.823974609375 / 2));
}

TEST_F(DctcpTest, OneRoundCutsOnce) {
  driver_.Send(KiB(64));
  driver_.Advance(kTestFlow.base_rtt);
  for (int i = 0; i < 16; ++i) driver_.Ack(KiB(4), KiB(4), kTestFlow.base_rtt);
  EXPECT_EQ(window(), kBdp / 2);
  driver_.Round({.acked = KiB(4), .marked = KiB(4)});  // the next round cuts again, alpha still 1
  EXPECT_EQ(window(), kBdp / 4);
}

// Marks that begin in the middle of one round go on in the next: one queue, one cut.
TEST_F(DctcpTest, ACutAnswersForAllThatWasInFlight) {
  driver_.Send(KiB(64));
  driver_.Advance(kTestFlow.base_rtt);
  for (int i = 0; i < 8; ++i) driver_.Ack(KiB(4), Bytes(0), kTestFlow.base_rtt);
  driver_.Ack(KiB(4), KiB(4), kTestFlow.base_rtt);  // 28 KiB are left in flight
  EXPECT_EQ(window(), kBdp / 2);
  driver_.Send(KiB(64));
  for (int i = 0; i < 7; ++i) driver_.Ack(KiB(4), KiB(4), kTestFlow.base_rtt);
  EXPECT_EQ(window(), kBdp / 2);
  driver_.Ack(KiB(4), KiB(4), kTestFlow.base_rtt);  // sent after the cut
  EXPECT_LT(window(), kBdp / 2);
}

TEST_F(DctcpTest, AWindowOfUnmarkedBytesAddsOnePacket) {
  driver_.Round({.acked = kBdp - Bytes(1)});
  EXPECT_EQ(window(), kBdp);
  driver_.Round({.acked = Bytes(1)});
  EXPECT_EQ(window(), kBdp + kMtu);
}

TEST_F(DctcpTest, NothingIsAddedWhileTheApplicationIsTheLimit) {
  for (int i = 0; i < 10; ++i) {
    driver_.Send(kBdp);
    driver_.Ack(kBdp, Bytes(0), kTestFlow.base_rtt, Limit::kApplication);
  }
  EXPECT_EQ(window(), kBdp);
}

TEST_F(DctcpTest, SlowStartEndsAtOneBdp) {
  Dctcp cc(kTestFlow, {.initial_window = 0.25});
  CcDriver driver(cc);
  driver.Round({.acked = Bytes(37'500)});
  EXPECT_EQ(cc.allowance().window, Bytes(75'000));  // doubled
  driver.Round({.acked = Bytes(75'000)});
  EXPECT_EQ(cc.allowance().window, kBdp);
  driver.Round({.acked = kBdp});
  EXPECT_EQ(cc.allowance().window, kBdp + kMtu);  // no longer doubled
}

TEST_F(DctcpTest, ACutEndsSlowStart) {
  Dctcp cc(kTestFlow, {.initial_window = 0.5});
  CcDriver driver(cc);
  driver.Round({.acked = kMtu, .marked = kMtu});
  EXPECT_EQ(cc.allowance().window, Bytes(37'500));
  driver.Round({.acked = Bytes(37'500)});
  EXPECT_EQ(cc.allowance().window, Bytes(37'500) + kMtu);
}

TEST_F(DctcpTest, ALossHalvesOnceARoundAndLeavesAlpha) {
  for (int i = 0; i < 4; ++i) driver_.Round({.acked = kMtu});
  const double alpha = cc_.alpha();
  driver_.Send(4 * kMtu);
  driver_.Lose(kMtu, LossCause::kOrder);
  EXPECT_EQ(window(), kBdp / 2);
  driver_.Lose(kMtu, LossCause::kTrim);
  EXPECT_EQ(window(), kBdp / 2);
  EXPECT_NEAR(cc_.alpha(), alpha * 15 / 16, 1e-12);  // only the round's own step
}

TEST_F(DctcpTest, ALossThatWasNoneIsUndone) {
  driver_.Send(kMtu);
  driver_.Lose(kMtu, LossCause::kOrder);
  cc_.OnSpurious({.now = driver_.now(), .round = driver_.round(), .bytes = kMtu});
  EXPECT_EQ(window(), kBdp);
}

TEST_F(DctcpTest, AMarkAfterTheLossIsNotUndone) {
  driver_.Send(kMtu);
  driver_.Lose(kMtu, LossCause::kOrder);
  driver_.Round({.acked = kMtu, .marked = kMtu});
  const Bytes cut = window();
  cc_.OnSpurious({.now = driver_.now(), .round = driver_.round(), .bytes = kMtu});
  EXPECT_EQ(window(), cut);
}

TEST_F(DctcpTest, ATimeoutFallsToTheFloorAndSlowStartsToHalf) {
  driver_.Send(kBdp);
  driver_.Timeout();
  EXPECT_EQ(window(), 2 * kMtu);
  for (int i = 0; i < 5; ++i) driver_.Round({.acked = window()});
  // 8 KiB doubles to 16, 32, 64 KiB and stops at half of 150 kB; then one packet a window.
  EXPECT_EQ(window(), kBdp / 2 + kMtu);
}

// T-DCTCP-4: below two packets marks have no effect.
TEST_F(DctcpTest, TheWindowStopsAtTwoPackets) {
  for (int i = 0; i < 100; ++i) driver_.Round({.acked = kMtu, .marked = kMtu});
  EXPECT_EQ(window(), 2 * kMtu);
}

TEST_F(DctcpTest, ALongIdleTimeBringsBackTheFirstWindow) {
  for (int i = 0; i < 10; ++i) driver_.Round({.acked = 2 * kBdp});
  ASSERT_GT(window(), kBdp);
  const Bytes before = window();
  cc_.OnResume(driver_.now(), 4 * kTestFlow.base_rtt);
  EXPECT_EQ(window(), before);
  cc_.OnResume(driver_.now(), 4 * kTestFlow.base_rtt + Duration(1));
  EXPECT_EQ(window(), kBdp);
}

}  // namespace
}  // namespace weir
