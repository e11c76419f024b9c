#include "datapath/api/units.h"

#include "datapath/api/rng.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

TEST(UnitsTest, TimeOnTheWireIsRoundedUp) {
  EXPECT_EQ(Bytes(4158) / Gbps(800), Duration(42));  // 41.58 ns
  EXPECT_EQ(Bytes(100) / Gbps(800), Duration(1));    // exactly 1 ns
  EXPECT_EQ(Bytes(101) / Gbps(800), Duration(2));    // 1.01 ns
  EXPECT_EQ(Bytes(0) / Gbps(800), Duration(0));
  EXPECT_EQ(Bytes(1) / Rate(1), Seconds(8));  // 8 bits at 1 bit/s
}

TEST(UnitsTest, BytesOfARateAreRoundedDown) {
  EXPECT_EQ(Gbps(100) * Nanos(1), Bytes(12));  // 12.5
  EXPECT_EQ(Gbps(100) * Nanos(2), Bytes(25));
  EXPECT_EQ(Gbps(800) * Seconds(1), Bytes(100'000'000'000));  // 8e11 * 1e9 needs 128 bits
  EXPECT_EQ(Mbps(1) * Nanos(7'999), Bytes(0));                // a byte takes 8 us
  EXPECT_EQ(Mbps(1) * Nanos(8'000), Bytes(1));
}

TEST(UnitsTest, ARateFromBytesIsRoundedDownAndSaturates) {
  EXPECT_EQ(Bytes(1) / Seconds(3), Rate(2));  // 8/3
  EXPECT_EQ(Bytes(12'500) / Micros(1), Gbps(100));
  // 2e9 bytes in a nanosecond would be 1.6e19 bits a second, beyond 63 bits.
  EXPECT_EQ(Bytes(2'000'000'000) / Nanos(1), Rate::Max());
}

// Rounding up and down about one exact value: b <= rate * (b / rate) < b + what a nanosecond
// brings.
TEST(UnitsTest, ConversionsThereAndBackNeverLoseAByte) {
  Rng rng(1);
  for (int i = 0; i < 10'000; ++i) {
    const Rate rate(1 + static_cast<int64_t>(rng.Next() % 1'600'000'000'000));
    const Bytes bytes(rng.Below(100'000'000));
    const Bytes back = rate * (bytes / rate);
    ASSERT_GE(back, bytes);
    ASSERT_LE(back, bytes + rate * Nanos(1) + Bytes(1));
  }
}

TEST(UnitsTest, ScaledSaturates) {
  EXPECT_EQ(Scaled(Bytes(1000), 1.9999), Bytes(1999));
  EXPECT_EQ(Scaled(Bytes(-1000), 1.9999), Bytes(-1999));  // toward zero
  EXPECT_EQ(Scaled(Rate::Max(), 2.0), Rate::Max());
  EXPECT_EQ(Scaled(Rate::Max(), -2.0), Rate(-Rate::Max().count()));
  EXPECT_EQ(Scaled(Bytes(5), 0.0), Bytes(0));
}

TEST(UnitsTest, DivisionOfLikeQuantitiesCounts) {
  EXPECT_EQ(KiB(10) / KiB(3), 3);
  EXPECT_EQ(Micros(10) / 3, Nanos(3333));
  EXPECT_DOUBLE_EQ(Ratio(KiB(1), KiB(4)), 0.25);
}

TEST(UnitsTest, PacketNumbersWrap) {
  const Psn last(0xFFFF'FFFF);
  EXPECT_EQ(last + 1, Psn(0));
  EXPECT_EQ(Psn(0) - 1, last);
  EXPECT_EQ(Distance(last, Psn(2)), 3);
  EXPECT_EQ(Distance(Psn(2), last), -3);
  EXPECT_TRUE(Before(last, Psn(0)));
  EXPECT_FALSE(Before(Psn(0), last));
  EXPECT_FALSE(Before(last, last));
}

// Half the space apart is the first distance that no longer orders: 2^31 - 1 still does.
TEST(UnitsTest, PacketNumbersAreOrderedUpToHalfTheSpace) {
  const Psn base(0xC000'0000);
  EXPECT_TRUE(Before(base, base + 0x7FFF'FFFF));
  EXPECT_FALSE(Before(base, base + 0x8000'0000));
}

TEST(UnitsTest, NeverComesAfterEverything) {
  EXPECT_GT(Time::Never(), Time(0) + Seconds(9'000'000'000));
  EXPECT_EQ(Time(5) - Time(7), Nanos(-2));
}

}  // namespace
}  // namespace weir
