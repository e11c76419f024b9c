#include "cc_algos/theta_powertcp.h"

#include <gtest/gtest.h>

#include "tests/support/cc_driver.h"

namespace weir {
namespace {

constexpr Bytes kMtu{4096};
constexpr double kBdp = 150'000;  // 100 Gb/s, tau = 12 us
constexpr double kBeta = 2048;    // half a packet, as 0.006 BDP are less

class ThetaPowerTcpTest : public testing::Test {
 protected:
  void AckAfter(Duration dt, Duration rtt) {
    driver_.Advance(dt);
    driver_.Ack(kMtu, Bytes(0), rtt);
  }
  void FirstAck(Duration rtt) {
    driver_.Send(100 * kMtu);
    driver_.Ack(kMtu, Bytes(0), rtt);
  }

  ThetaPowerTcp cc_{kTestFlow, {}};
  CcDriver driver_{cc_};
};

TEST_F(ThetaPowerTcpTest, PowerIsTheRttAndItsGradient) {
  FirstAck(Micros(12));
  AckAfter(Micros(12), Micros(18));
  EXPECT_NEAR(cc_.power(), (6.0 / 12 + 1) * 18 / 12, 1e-12);
  AckAfter(Micros(6), Micros(18));
  EXPECT_NEAR(cc_.power(), 0.5 * 2.25 + 0.5 * 1.5, 1e-12);  // half a tau of a standing queue
}

TEST_F(ThetaPowerTcpTest, TheCurrentIsAtLeastHalfTheLink) {
  FirstAck(Micros(48));
  AckAfter(Micros(12), Micros(24));  // -24/12 + 1 is negative
  EXPECT_NEAR(cc_.power(), 0.5 * 24 / 12, 1e-12);
}

TEST_F(ThetaPowerTcpTest, TheWindowChangesOnceARound) {
  FirstAck(Micros(12));  // the first round: power 1
  EXPECT_NEAR(cc_.window(), kBdp, 1e-6);
  AckAfter(Micros(12), Micros(18));
  EXPECT_NEAR(cc_.window(), kBdp, 1e-6);
  driver_.Ack(driver_.in_flight(), Bytes(0), Micros(18));
  driver_.Send(kMtu);
  AckAfter(Micros(12), Micros(18));  // power 1.5
  EXPECT_NEAR(cc_.power(), 1.5, 1e-12);
  EXPECT_NEAR(cc_.window(), 0.7 * (kBdp / 1.5 + kBeta) + 0.3 * kBdp, 1e-6);
}

TEST_F(ThetaPowerTcpTest, SamplesThatCannotBeTrustedMeasureNothing) {
  FirstAck(Micros(12));
  AckAfter(Micros(12), Duration(0));
  driver_.Ack(kMtu, Bytes(0), Millis(1), Limit::kWindow, /*host_stall=*/true);
  EXPECT_EQ(cc_.power(), 1);
  AckAfter(Micros(12), Micros(24));  // nothing to compare with
  EXPECT_EQ(cc_.power(), 1);
  AckAfter(Micros(12), Micros(24));
  EXPECT_NEAR(cc_.power(), 2, 1e-12);
}

TEST_F(ThetaPowerTcpTest, TwoSamplesOfOneMomentAreOne) {
  FirstAck(Micros(12));
  driver_.Ack(kMtu, Bytes(0), Micros(20));
  EXPECT_EQ(cc_.power(), 1);
}

TEST_F(ThetaPowerTcpTest, ALossHalvesOnceARoundAndIsUndoneIfThereWasNone) {
  FirstAck(Micros(12));
  driver_.Lose(kMtu, LossCause::kOrder);
  driver_.Lose(kMtu, LossCause::kOrder);
  EXPECT_EQ(cc_.window(), kBdp / 2);
  cc_.OnSpurious({.now = driver_.now(), .bytes = kMtu});
  EXPECT_EQ(cc_.window(), kBdp);
}

TEST_F(ThetaPowerTcpTest, FourIdleRttsForgetTheLastRtt) {
  FirstAck(Micros(48));
  AckAfter(Micros(12), Micros(48));
  EXPECT_NEAR(cc_.power(), 4, 1e-12);
  cc_.OnResume(driver_.now(), Micros(48));
  EXPECT_NEAR(cc_.power(), 4, 1e-12);
  cc_.OnResume(driver_.now(), Micros(49));
  EXPECT_EQ(cc_.power(), 1);
  AckAfter(Micros(12), Micros(12));
  EXPECT_EQ(cc_.power(), 1);
}

}  // namespace
}  // namespace weir
