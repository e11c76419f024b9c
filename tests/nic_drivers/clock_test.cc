#include "nic_drivers/dpdk/clock.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

constexpr uint64_t kGigahertz2 = 2'000'000'000;

TEST(TscClockTest, TicksBecomeNanoseconds) {
  const TscClock clock(kGigahertz2, 1);
  EXPECT_EQ(clock.At(clock.origin()), Time(0));
  EXPECT_EQ(clock.At(clock.origin() + 20), Time(10));
  // A year, within a microsecond: the factor is 2^39, a power of two, and so exact.
  const uint64_t year = kGigahertz2 * 86'400 * 365;
  EXPECT_EQ(clock.At(clock.origin() + year), Time(86'400'000'000'000 * 365));
}

TEST(TscClockTest, AScaleBelowOneSlowsTimeDown) {
  const TscClock clock(kGigahertz2, 0.01);
  const Time second = clock.At(clock.origin() + kGigahertz2);
  EXPECT_NEAR(static_cast<double>(second.nanos()), 1e7, 1);
}

TEST(TscClockTest, ClocksOfAProcessShareTheirOrigin) {
  const TscClock a(kGigahertz2, 1), b(kGigahertz2, 0.5);
  EXPECT_EQ(a.origin(), b.origin());
}

TEST(TscClockTest, DoesNotRunBackwards) {
  TscClock clock(kGigahertz2, 1);
  Time last(0);
  for (int i = 0; i < 10'000; ++i) {
    const Time now = clock.Now();
    EXPECT_GE(now, last);
    last = now;
  }
}

}  // namespace
}  // namespace weir
