// Stamps of a device's clock on the port's clock. No device at hand stamps; this is the arithmetic.
#include "nic_drivers/dpdk/stamp_clock.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

// A device that counts at 1.25 GHz and 50 ppm too fast, from any number on.
uint64_t Ticks(Time at, uint64_t first) {
  return first + static_cast<uint64_t>(static_cast<double>(at.nanos()) * 1.25 * 1.00005);
}

StampClock Synchronised(uint64_t first, Time until) {
  StampClock clock;
  for (Time now{1'000}; now < until; now = std::max(clock.next_reading(), now + Nanos(1))) {
    clock.Read(now, Ticks(now + Nanos(300), first), now + Nanos(600));
  }
  return clock;
}

TEST(StampClockTest, TwoReadingsTellRateAndOffset) {
  StampClock clock;
  clock.Read(Time(0), 500, Time(0));
  EXPECT_FALSE(clock.ready());
  EXPECT_EQ(clock.next_reading(), Time(1'000'000));
  clock.Read(Time(1'000'000), 500 + 2'000'000, Time(1'000'000));  // two ticks a nanosecond
  ASSERT_TRUE(clock.ready());
  EXPECT_EQ(clock.Arrival(500 + 2'200'000, Time(1'000'000), Time(1'200'000)), Time(1'100'000));
}

// 50 ppm over the 100 ms between two readings would be 5 us.
TEST(StampClockTest, AFastClockIsFollowedToTensOfNanoseconds) {
  for (const uint64_t first : {uint64_t{0}, ~uint64_t{0} - 1'000'000}) {  // the second one wraps
    const StampClock clock = Synchronised(first, Time(1'000'000'000));
    const Time arrived{1'050'000'000};
    const Time told = clock.Arrival(Ticks(arrived, first), Time(0), arrived + Micros(20));
    EXPECT_NEAR(static_cast<double>((told - arrived).count()), 0, 20);
  }
}

TEST(StampClockTest, AReadingThatWasInterruptedDoesNotCount) {
  StampClock clock;
  clock.Read(Time(0), 0, Time(0));
  clock.Read(Time(1'000'000), 5, Time(1'500'000));
  EXPECT_FALSE(clock.ready());
  clock.Read(Time(2'500'000), 2'500'000, Time(2'500'000));
  EXPECT_TRUE(clock.ready());
}

TEST(StampClockTest, NothingArrivesAfterItWasPolled) {
  StampClock clock;
  clock.Read(Time(0), 0, Time(0));
  clock.Read(Time(1'000'000), 1'000'000, Time(1'000'000));
  EXPECT_EQ(clock.Arrival(1'101'000, Time(1'000'000), Time(1'100'000)), Time(1'100'000));
}

TEST(StampClockTest, AStampOfAnotherTimeIsNotTrusted) {
  StampClock clock;
  clock.Read(Time(0), 0, Time(0));
  clock.Read(Time(1'000'000), 1'000'000, Time(1'000'000));
  EXPECT_EQ(clock.Arrival(500'000, Time(1'000'000), Time(1'100'000)), Time::Never());
  EXPECT_EQ(clock.Arrival(9'000'000, Time(1'000'000), Time(1'100'000)), Time::Never());
  EXPECT_EQ(clock.Arrival(uint64_t{1} << 63, Time(1'000'000), Time(1'100'000)), Time::Never());
}

}  // namespace
}  // namespace weir
