#include "cc_algos/dcqcn.h"

#include <gtest/gtest.h>

#include "tests/support/cc_driver.h"

namespace weir {
namespace {

constexpr Bytes kMtu{4096};
constexpr FlowInfo kFlow = {.mtu = kMtu, .line_rate = Gbps(400), .base_rtt = Micros(12), .seed = 1};
constexpr double kG = 1.0 / 256;

// Acknowledges something, then lets the increase timer expire `steps` times.
void Climb(CcDriver& driver, Duration timer, int steps) {
  for (int i = 0; i < steps; ++i) {
    driver.Send(kMtu);
    driver.Ack(kMtu, Bytes(0), kFlow.base_rtt);
    driver.Advance(timer);
  }
}

TEST(DcqcnTest, StartsAtLineRateWithoutAWindow) {
  const Dcqcn cc(kFlow, {});
  EXPECT_EQ(cc.allowance().rate, Gbps(400));
  EXPECT_EQ(cc.allowance().window, Bytes::Max());
  EXPECT_EQ(cc.timer(), Time::Never());
}

TEST(DcqcnTest, AWindowOfBdpsCanBeAdded) {
  const Dcqcn cc(kFlow, {.window_bdps = 1.5});
  EXPECT_EQ(cc.allowance().window, Bytes(900'000));  // 1.5 * 400 Gb/s * 12 us
}

// T-DCQCN-2
TEST(DcqcnTest, AfterOneCnpTheRateClimbsHalfTheWayEachStep) {
  Dcqcn cc(kFlow, {});
  CcDriver driver(cc, kFlow);
  cc.OnCnp(driver.now());
  EXPECT_EQ(cc.allowance().rate, Gbps(200));  // alpha = 1
  EXPECT_EQ(cc.target(), Gbps(400));
  for (const int64_t mbps : {300'000, 350'000, 375'000, 387'500, 393'750}) {  // 1 - 2^-(k+1)
    Climb(driver, Micros(55), 1);
    EXPECT_EQ(cc.allowance().rate, Mbps(mbps));
  }
}

TEST(DcqcnTest, WithNothingAcknowledgedTheTimerDoesNotRaiseTheRate) {
  Dcqcn cc(kFlow, {});
  CcDriver driver(cc, kFlow);
  cc.OnCnp(driver.now());
  driver.Advance(Millis(10));
  EXPECT_EQ(cc.allowance().rate, Gbps(200));
  EXPECT_EQ(cc.timer(), Time::Never());  // and the connection sleeps
  driver.Send(kMtu);
  driver.Ack(kMtu, Bytes(0), kFlow.base_rtt);
  EXPECT_EQ(cc.timer(), driver.now() + Micros(55));
}

TEST(DcqcnTest, AlphaDecaysOncePerPeriodWithoutCnp) {
  Dcqcn cc(kFlow, {});
  const Time start = Time(1000);
  EXPECT_EQ(cc.AlphaAt(start + Seconds(1)), 1.0);  // not before the first CNP
  cc.OnCnp(start + Seconds(2));
  const Time cnp = start + Seconds(2);
  EXPECT_EQ(cc.AlphaAt(cnp + Micros(55) - Duration(1)), 1.0);
  EXPECT_EQ(cc.AlphaAt(cnp + Micros(55)), 1 - kG);
  EXPECT_NEAR(cc.AlphaAt(cnp + Micros(55) * 177), 0.5002, 0.0001);  // (255/256)^177
}

TEST(DcqcnTest, ACnpMovesAlphaTowardsOneAndRestartsItsTimer) {
  Dcqcn cc(kFlow, {});
  const Time first{0};
  cc.OnCnp(first);
  const Time second = first + Micros(55) * 100 + Micros(54);
  cc.OnCnp(second);
  const double before = 0.6761;  // (255/256)^100
  EXPECT_NEAR(cc.AlphaAt(second), before + kG * (1 - before), 0.0001);
  EXPECT_NEAR(cc.AlphaAt(second + Micros(54)), before + kG * (1 - before), 0.0001);
  // RC: 400 (1 - 1/2) = 200, then 200 (1 - 0.6761/2).
  EXPECT_NEAR(Ratio(cc.allowance().rate, Gbps(1)), 132.39, 0.01);
  EXPECT_EQ(cc.target(), Gbps(200));
}

// T-DCQCN-5: R_AI = 400e9/1024 = 390625000, R_HAI = 400e9/256 = 1562500000.
TEST(DcqcnTest, EachStepFollowsTheStageOfItsCounters) {
  Dcqcn cc(kFlow, {.ai_fraction = 1.0 / 1024, .hai_fraction = 1.0 / 256, .byte_counter = KiB(64)});
  CcDriver driver(cc, kFlow);
  cc.OnCnp(driver.now());
  cc.OnCnp(driver.now());        // RT 200 Gb/s, RC 100 Gb/s: room below the line rate
  Climb(driver, Micros(55), 5);  // T = 5, B = 0: fast recovery
  EXPECT_EQ(cc.target(), Gbps(200));
  Climb(driver, Micros(55), 1);  // T = 6, B = 0: additive
  EXPECT_EQ(cc.target(), Rate(200'390'625'000));
  const auto pass_bytes = [&] {
    driver.Send(kMtu);
    driver.Ack(kMtu, Bytes(0), kFlow.base_rtt);
    driver.Send(KiB(64));
  };
  driver.Send(KiB(64) - 6 * kMtu);  // B = 1: additive, because max(T, B) = 6 > F
  EXPECT_EQ(cc.target(), Rate(200'781'250'000));
  for (int b = 2; b <= 5; ++b) pass_bytes();  // four more additive steps
  EXPECT_EQ(cc.target(), Rate(200'000'000'000 + 6 * 390'625'000ll));
  pass_bytes();  // T = 6, B = 6: hyper, (6 - 5) R_HAI
  EXPECT_EQ(cc.target(), Rate(200'000'000'000 + 6 * 390'625'000ll + 1'562'500'000ll));
}

TEST(DcqcnTest, ACnpTakesBothCountersBackToFastRecovery) {
  for (const Bytes byte_counter : {MiB(10), 2 * kMtu}) {  // the timer, then the bytes, lead
    Dcqcn cc(kFlow, {.byte_counter = byte_counter});
    CcDriver driver(cc, kFlow);
    cc.OnCnp(driver.now());
    cc.OnCnp(driver.now());
    Climb(driver, Micros(55), 16);
    cc.OnCnp(driver.now());
    const Rate target = cc.target();
    Climb(driver, Micros(55), 2);
    EXPECT_EQ(cc.target(), target);
  }
}

TEST(DcqcnTest, BytesSentWithoutAnAcknowledgementDoNotRaiseTheRate) {
  Dcqcn cc(kFlow, {.byte_counter = KiB(64)});
  CcDriver driver(cc, kFlow);
  cc.OnCnp(driver.now());
  for (int i = 0; i < 100; ++i) driver.Send(KiB(64));
  EXPECT_EQ(cc.allowance().rate, Gbps(200));
  driver.Ack(kMtu, Bytes(0), kFlow.base_rtt);
  driver.Send(KiB(64));
  EXPECT_EQ(cc.allowance().rate, Gbps(300));
}

TEST(DcqcnTest, TheRateReturnsToTheLineRateAndTheTimerStops) {
  Dcqcn cc(kFlow, {});
  CcDriver driver(cc, kFlow);
  cc.OnCnp(driver.now());
  Climb(driver, Micros(55), 60);  // 200 Gb/s halve to nothing in 38 steps
  EXPECT_EQ(cc.allowance().rate, Gbps(400));
  EXPECT_EQ(cc.timer(), Time::Never());
}

TEST(DcqcnTest, ATimeoutCountsAsACnp) {
  Dcqcn cc(kFlow, {});
  CcDriver driver(cc, kFlow);
  driver.Send(kMtu);
  driver.Timeout();
  EXPECT_EQ(cc.allowance().rate, Gbps(200));
}

TEST(DcqcnTest, TheRateStopsAtItsMinimum) {
  Dcqcn cc(kFlow, {});
  for (int i = 0; i < 100; ++i) cc.OnCnp(Time(i));
  EXPECT_EQ(cc.allowance().rate, Mbps(10));
}

// T-DCQCN-1, the sender's part of it.
TEST(DcqcnTest, TheReceiverIsAskedForCnpsAtTheIntervalOfTheForm) {
  EXPECT_EQ(Dcqcn::Duty(kFlow, {}).cnp_interval, Micros(50));
  EXPECT_EQ(Dcqcn::Duty(kFlow, {.nvidia_form = true}).cnp_interval, Micros(4));
  EXPECT_EQ(Dcqcn::Duty(kFlow, {.cnp_interval = Micros(7)}).cnp_interval, Micros(7));
}

constexpr Dcqcn::Config kNvidia = {
    .nvidia_form = true, .ai_fraction = 1.0 / 1024, .hai_fraction = 1.0 / 256};

TEST(DcqcnNvidiaTest, TheCutWaitsForTheNextLook) {
  Dcqcn cc(kFlow, kNvidia);
  CcDriver driver(cc, kFlow);
  const Time cnp = driver.now();
  cc.OnCnp(cnp);
  EXPECT_EQ(cc.allowance().rate, Gbps(400));
  EXPECT_EQ(cc.timer(), cnp + Micros(4));
  driver.Advance(Micros(4));
  // alpha stepped four times of 1 us: (1019/1024)^4 = 0.980612, so RC = 400 (1 - alpha/2).
  EXPECT_NEAR(Ratio(cc.allowance().rate, Gbps(1)), 203.878, 0.001);
  EXPECT_EQ(cc.target(), Gbps(400));
}

TEST(DcqcnNvidiaTest, LooksAreWholePeriodsAfterTheFirstCnp) {
  Dcqcn cc(kFlow, kNvidia);
  CcDriver driver(cc, kFlow);
  const Time first = driver.now();
  cc.OnCnp(first);
  driver.Advance(Micros(4));
  driver.Advance(Micros(5));
  cc.OnCnp(driver.now());
  EXPECT_EQ(cc.timer(), first + Micros(12));
  cc.OnCnp(driver.now());  // a second one before the look changes nothing
  EXPECT_EQ(cc.timer(), first + Micros(12));
}

TEST(DcqcnNvidiaTest, AlphaRisesOnlyInAPeriodWithACnp) {
  Dcqcn cc(kFlow, kNvidia);
  const Time first{0};
  const double g = 5.0 / 1024;
  cc.OnCnp(first);
  cc.OnCnp(first + Nanos(1500));  // in the second period of 1 us
  EXPECT_NEAR(cc.AlphaAt(first + Micros(1)), 1 - g, 1e-12);
  EXPECT_NEAR(cc.AlphaAt(first + Micros(2)), (1 - g) * (1 - g) + g, 1e-12);
  EXPECT_NEAR(cc.AlphaAt(first + Micros(3)), (1 - g) * ((1 - g) * (1 - g) + g), 1e-12);
}

TEST(DcqcnNvidiaTest, ASecondCutWithoutAStepLeavesTheTarget) {
  Dcqcn cc(kFlow, kNvidia);
  CcDriver driver(cc, kFlow);
  for (int i = 0; i < 2; ++i) cc.OnCnp(driver.now()), driver.Advance(Micros(4));
  EXPECT_LT(cc.allowance().rate, Gbps(150));
  EXPECT_EQ(cc.target(), Gbps(400));

  Dcqcn::Config clamp = kNvidia;
  clamp.clamp_target = true;
  Dcqcn clamped(kFlow, clamp);
  CcDriver other(clamped, kFlow);
  for (int i = 0; i < 2; ++i) clamped.OnCnp(other.now()), other.Advance(Micros(4));
  EXPECT_NEAR(Ratio(clamped.target(), Gbps(1)), 203.878, 0.001);
}

TEST(DcqcnNvidiaTest, StepsRecoverAddThenHyperIncrease) {
  Dcqcn cc(kFlow, kNvidia);
  CcDriver driver(cc, kFlow);
  for (int i = 0; i < 2; ++i) {  // one step between the cuts, so that RT comes down to 301.9 Gb/s
    cc.OnCnp(driver.now());
    driver.Advance(Micros(4));
    if (i == 0) Climb(driver, Micros(300), 1);
  }
  const Rate target = cc.target();
  ASSERT_LT(target, Gbps(302));
  Climb(driver, Micros(300), 1);  // S = 0 < F: recovery
  EXPECT_EQ(cc.target(), target);
  Climb(driver, Micros(300), 1);  // S = 1 = F: R_AI
  EXPECT_EQ(cc.target(), target + Rate(390'625'000));
  Climb(driver, Micros(300), 1);  // S = 2 > F: R_HAI, always by one
  EXPECT_EQ(cc.target(), target + Rate(390'625'000 + 1'562'500'000));
  Climb(driver, Micros(300), 1);
  EXPECT_EQ(cc.target(), target + Rate(390'625'000 + 2 * 1'562'500'000ll));
}

TEST(DcqcnNvidiaTest, TheFirstCnpMayScaleTheRate) {
  Dcqcn::Config config = kNvidia;
  config.first_cnp_factor = 0.25;
  Dcqcn cc(kFlow, config);
  cc.OnCnp(Time(0));
  EXPECT_EQ(cc.allowance().rate, Gbps(100));
  EXPECT_EQ(cc.target(), Gbps(100));
}

}  // namespace
}  // namespace weir
