#include "datapath/serializer.h"

#include "datapath/api/rng.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

// 4158 B at 800 Gb/s take 41.58 ns: 50 of them take 2079 ns exactly, where adding up 42 ns each
// would give 2100.
TEST(SerializerTest, ABusyPeriodDoesNotDrift) {
  Serializer wire(Gbps(800));
  Time end{};
  for (int i = 0; i < 50; ++i) end = wire.Book(Time(0), Bytes(4158));
  EXPECT_EQ(end, Time(2079));
  for (int i = 50; i < 50'000'000 / 50; ++i) end = wire.Book(Time(0), Bytes(4158));
  EXPECT_EQ(end, Time(41'580'000));  // 10^6 packets
}

TEST(SerializerTest, EachDepartureIsRoundedUp) {
  Serializer wire(Gbps(800));
  EXPECT_EQ(wire.Book(Time(0), Bytes(4158)), Time(42));   // 41.58
  EXPECT_EQ(wire.Book(Time(0), Bytes(4158)), Time(84));   // 83.16
  EXPECT_EQ(wire.Book(Time(0), Bytes(4158)), Time(125));  // 124.74
}

TEST(SerializerTest, AnIdleLineStartsANewBusyPeriod) {
  Serializer wire(Gbps(800));
  wire.Book(Time(0), Bytes(4158));                          // until 41.58, free at 42
  EXPECT_EQ(wire.Book(Time(100), Bytes(4158)), Time(142));  // not 141.16: the 0.42 ns are gone
}

// Back to back: a booking at the rounded end continues the period, or every packet would cost up to
// a nanosecond.
TEST(SerializerTest, ABookingAtTheEndContinues) {
  Serializer wire(Gbps(800));
  Time end{};
  for (int i = 0; i < 50; ++i) end = wire.Book(end, Bytes(4158));
  EXPECT_EQ(end, Time(2079));
}

TEST(SerializerTest, ANewRateCountsFromTheNextBooking) {
  Serializer wire(Gbps(100));
  EXPECT_EQ(wire.Book(Time(0), Bytes(12'500)), Time(1000));
  wire.set_rate(Gbps(50));
  EXPECT_EQ(wire.free_at(), Time(1000));
  EXPECT_EQ(wire.Book(Time(0), Bytes(12'500)), Time(3000));
}

TEST(SerializerTest, SlowAndFastExtremes) {
  Serializer slow(Rate(1));
  EXPECT_EQ(slow.Book(Time(0), Bytes(1)), Time(0) + Seconds(8));
  Serializer fast(Gbps(1'600));
  EXPECT_EQ(fast.Book(Time(0), Bytes(1) * (int64_t{1} << 30)),
            Time(5'368'710));  // 2^30 / 200 B a ns
}

// The end of a busy period is the exact quotient rounded up, whatever the pieces.
TEST(SerializerTest, AnyRateAndAnySizesEndWithinANanosecondOfExact) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const Rate rate(1'000'000 + static_cast<int64_t>(rng.Next() % 1'600'000'000'000));
    Serializer wire(rate);
    const Time start(1 + rng.Below(1'000'000));
    Bytes sum{};
    Time now = start;
    for (int i = 0; i < 1000; ++i) {
      const Bytes size(1 + rng.Below(9'000));
      sum += size;
      const Time end = wire.Book(now, size);
      ASSERT_EQ(end, start + sum / rate);
      if (rng.Chance(0.5))
        now =
            Time(now.nanos() +
                 rng.Below(
                     static_cast<uint32_t>(std::min<int64_t>((end - now).count(), 1'000'000)) + 1));
    }
  }
}

}  // namespace
}  // namespace weir
