#include "cc_algos/admission.h"

#include <gtest/gtest.h>

#include "tests/support/cc_driver.h"
#include "tests/support/grants.h"

namespace weir {
namespace {

constexpr Bytes kMtu{4096};

TEST(AdmissionTest, NothingIsSentUntilItIsClear) {
  Admission cc(kTestFlow, {});
  EXPECT_EQ(cc.allowance().credit, Bytes(0));
  EXPECT_EQ(cc.allowance().window, Bytes(600'000));
  EXPECT_EQ(cc.CreditWanted(MiB(8)), MiB(8) + kMtu);  // and what carries the question
  cc.OnCredit(Time(0), KiB(512));
  EXPECT_EQ(cc.allowance().credit, KiB(512));
}

TEST(AdmissionSchedulerTest, EightChunksOfASenderAreClearedAtOnce) {
  AdmissionScheduler scheduler(kTestReceiver, {});
  scheduler.OnDemand(Time(0), 0, MiB(64));
  const auto grants = TakeGrants(scheduler, Time(0), Time(1'000'000));
  ASSERT_EQ(grants.size(), 8u);
  for (const TimedGrant& grant : grants) EXPECT_EQ(grant.bytes, KiB(512));
}

// The next buffer is free when a whole chunk has arrived: 128 packets of 4096 bytes.
TEST(AdmissionSchedulerTest, AFilledChunkClearsTheNext) {
  AdmissionScheduler scheduler(kTestReceiver, {});
  scheduler.OnDemand(Time(0), 0, MiB(64));
  TakeGrants(scheduler, Time(0), Time(1000));
  for (int i = 0; i < 127; ++i) scheduler.OnData({.now = Time(1000), .flow = 0, .size = kMtu});
  EXPECT_TRUE(TakeGrants(scheduler, Time(1000), Time(2000)).empty());
  scheduler.OnData({.now = Time(2000), .flow = 0, .size = kMtu});
  EXPECT_EQ(TakeGrants(scheduler, Time(2000), Time(3000)).size(), 1u);
}

TEST(AdmissionSchedulerTest, SendersTakeTurnsAndTheLastChunkMayBeShort) {
  AdmissionScheduler scheduler(kTestReceiver, {});
  scheduler.OnDemand(Time(0), 0, KiB(600));
  scheduler.OnDemand(Time(0), 1, KiB(512));
  const auto grants = TakeGrants(scheduler, Time(0), Time(1000));
  ASSERT_EQ(grants.size(), 3u);
  EXPECT_EQ(grants[0].flow, 0u);
  EXPECT_EQ(grants[1].flow, 1u);
  EXPECT_EQ(grants[2].flow, 0u);
  EXPECT_EQ(grants[2].bytes, KiB(88));
}

TEST(AdmissionSchedulerTest, AnUnusedBufferIsClearedAgainAfterASilence) {
  AdmissionScheduler scheduler(kTestReceiver, {.chunks = 1});
  scheduler.OnDemand(Time(0), 0, MiB(64));
  const auto grants = TakeGrants(scheduler, Time(0), Time(0) + Millis(25));
  ASSERT_EQ(grants.size(), 3u);
  EXPECT_EQ(grants[1].at, Time(0) + Millis(10));
  EXPECT_EQ(grants[2].at, Time(0) + Millis(20));
}

TEST(AdmissionSchedulerTest, AClosedConnectionIsForgotten) {
  AdmissionScheduler scheduler(kTestReceiver, {});
  scheduler.OnDemand(Time(0), 0, MiB(64));
  scheduler.OnDone(Time(0), 0);
  EXPECT_TRUE(TakeGrants(scheduler, Time(0), Time(1000)).empty());
}

}  // namespace
}  // namespace weir
