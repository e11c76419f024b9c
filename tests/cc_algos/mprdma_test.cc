#include "cc_algos/mprdma.h"

#include <gtest/gtest.h>

#include "tests/support/cc_driver.h"

namespace weir {
namespace {

constexpr Bytes kMtu{4096};
constexpr double kBdp = 150'000.0 / 4096;  // 36.62 packets

class MpRdmaTest : public testing::Test {
 protected:
  void SetWindow(double packets) { cc_.Restore({.window = Scaled(kMtu, packets)}); }
  void Ack(Bytes n, Bytes marked) {
    driver_.Send(n);
    driver_.Ack(n, marked, kTestFlow.base_rtt);
  }

  MpRdma cc_{kTestFlow, {}};
  CcDriver driver_{cc_};
};

TEST_F(MpRdmaTest, StartsAtOneBdp) {
  EXPECT_DOUBLE_EQ(cc_.window(), kBdp);
  EXPECT_EQ(cc_.allowance().window, Bytes(150'000));
  EXPECT_EQ(cc_.allowance().rate, Rate::Max());
}

TEST_F(MpRdmaTest, AWindowOfUnmarkedPacketsAddsOne) {
  SetWindow(10);
  Ack(10 * kMtu, Bytes(0));
  EXPECT_NEAR(cc_.window(), 11, 1e-9);
}

TEST_F(MpRdmaTest, EachMarkedPacketTakesHalfAPacket) {
  SetWindow(10);
  Ack(3 * kMtu, 3 * kMtu);
  EXPECT_NEAR(cc_.window(), 8.5, 1e-9);
}

TEST_F(MpRdmaTest, BothPartsOfAnAcknowledgementCount) {
  SetWindow(10);
  Ack(4 * kMtu, kMtu);
  EXPECT_NEAR(cc_.window(), 10 + 3.0 / 10 - 0.5, 1e-9);
}

// (1 - p) / w = p / 2 at w = 9 and p = 2/11: of 11 packets two are marked.
TEST_F(MpRdmaTest, ItRestsWhereMarksTakeWhatOthersAdd) {
  SetWindow(9);
  Ack(11 * kMtu, 2 * kMtu);
  EXPECT_NEAR(cc_.window(), 9, 1e-9);
}

TEST_F(MpRdmaTest, ALossHalvesOnceARoundAndIsUndoneIfThereWasNone) {
  SetWindow(10);
  driver_.Send(10 * kMtu);
  driver_.Lose(kMtu, LossCause::kOrder);
  EXPECT_NEAR(cc_.window(), 5, 1e-9);
  cc_.OnLoss({.now = driver_.now(), .round = driver_.round(), .lost = kMtu});
  EXPECT_NEAR(cc_.window(), 5, 1e-9);
  cc_.OnSpurious({.now = driver_.now(), .bytes = kMtu});
  EXPECT_NEAR(cc_.window(), 10, 1e-9);
}

TEST_F(MpRdmaTest, ATimeoutLeavesOnePacket) {
  driver_.Send(kMtu);
  driver_.Timeout();
  EXPECT_EQ(cc_.allowance().window, kMtu);
}

TEST_F(MpRdmaTest, TheWindowIsBounded) {
  for (int i = 0; i < 1000; ++i) Ack(100 * kMtu, Bytes(0));
  EXPECT_DOUBLE_EQ(cc_.window(), 4 * kBdp);
  cc_.OnResume(driver_.now(), Micros(48));
  EXPECT_DOUBLE_EQ(cc_.window(), 4 * kBdp);
  cc_.OnResume(driver_.now(), Micros(49));
  EXPECT_DOUBLE_EQ(cc_.window(), kBdp);
  Ack(100 * kMtu, 100 * kMtu);
  EXPECT_EQ(cc_.window(), 1);
}

}  // namespace
}  // namespace weir
