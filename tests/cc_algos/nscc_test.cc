#include "cc_algos/nscc.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/cc_driver.h"

namespace weir {
namespace {

constexpr Bytes kMtu{4096};
constexpr Duration kBaseRtt = Micros(12);
constexpr Duration kTarget = Micros(9);  // 0.75 base RTT
constexpr Bytes kMaxWindow{225'000};     // 1.5 * 150 kB

constexpr FlowInfo Flow(Rate rate) {
  return {.mtu = kMtu, .line_rate = rate, .base_rtt = kBaseRtt, .trimming = true, .seed = 1};
}

class NsccTest : public testing::Test {
 protected:
  static Nscc::Config Quiet() {  // no period and no batch gets in the way of the sums
    return {.eta = 1e-9, .adjust_bytes_threshold = Bytes(1), .adjust_period_threshold = Seconds(1)};
  }
  static Bytes window(const Nscc& cc) { return cc.allowance().window; }
  Bytes window() const { return window(cc_); }
  void Ack(Bytes n, Bytes marked, Duration delay) {
    driver_.Send(n);
    driver_.Ack(n, marked, kBaseRtt + delay);
  }
  // Sets the window, and lets the first acknowledgement's adjustment pass.
  void Prepare(Bytes window) {
    Ack(kMtu, kMtu, Duration(0));
    cc_.Restore({.window = window});
  }

  Nscc cc_{Flow(Gbps(100)), Quiet()};
  CcDriver driver_{cc_, Flow(Gbps(100))};
};

// T-NSCC-1
TEST_F(NsccTest, ConstantsAtTheReferencePoint) {
  const Nscc cc(Flow(Gbps(100)), {});
  // a = 150 kB / 150 kB = 1, b = 9 us / 12 us = 0.75
  EXPECT_EQ(cc.target(), kTarget);
  EXPECT_DOUBLE_EQ(cc.alpha() * 9000, 4 * 1 * 0.75 * 4096);
  EXPECT_DOUBLE_EQ(cc.fi(), 20480);
  EXPECT_DOUBLE_EQ(cc.eta(), 614.4);
  EXPECT_EQ(cc.max_cwnd(), kMaxWindow);
  EXPECT_EQ(cc.allowance().window, kMaxWindow);  // line-rate start
}

TEST_F(NsccTest, ConstantsScaleWithTheRate) {
  const Nscc cc(Flow(Gbps(800)), {});
  EXPECT_DOUBLE_EQ(cc.fi(), 8 * 20480);
  EXPECT_DOUBLE_EQ(cc.eta(), 8 * 614.4);
  EXPECT_EQ(cc.max_cwnd(), 8 * kMaxWindow);
}

TEST_F(NsccTest, WithoutTrimmingTheTargetIsOneBaseRtt) {
  FlowInfo flow = Flow(Gbps(100));
  flow.trimming = false;
  EXPECT_EQ(Nscc(flow, {}).target(), kBaseRtt);
}

// T-NSCC-2, the four quadrants by hand.
TEST_F(NsccTest, UnmarkedBelowTheTargetIncreasesInProportion) {
  Prepare(Bytes(100'000));
  Ack(4 * kMtu, Bytes(0), Micros(3));
  // inc = alpha n (target - delay) = 12288/9000 * 16384 * 6000; cwnd += inc / 100000
  EXPECT_EQ(window(), Bytes(100'000 + 1342));  // 134217728 / 100000 = 1342.2
}

TEST_F(NsccTest, UnmarkedAboveTheTargetIncreasesFairly) {
  Prepare(Bytes(100'000));
  Ack(4 * kMtu, Bytes(0), kTarget);
  EXPECT_EQ(window(), Bytes(100'000 + 3355));  // 20480 * 16384 / 100000 = 3355.4
}

TEST_F(NsccTest, MarkedBelowTheTargetChangesNothing) {
  Prepare(Bytes(100'000));
  Ack(4 * kMtu, 4 * kMtu, kTarget - Duration(1));
  EXPECT_EQ(window(), Bytes(100'000));
}

TEST_F(NsccTest, MarkedAboveTheTargetCutsByTheAverage) {
  Nscc::Config config = Quiet();
  config.delay_gain = 1;  // the average is the last sample
  Nscc cc(Flow(Gbps(100)), config);
  CcDriver driver(cc, Flow(Gbps(100)));
  driver.Send(kMtu);
  driver.Ack(kMtu, kMtu, kBaseRtt + Micros(12));
  // 1 - 0.8 (12 - 9)/12 = 0.8
  EXPECT_EQ(cc.allowance().window, Bytes(180'000));
}

TEST_F(NsccTest, MarkedAboveTheTargetWaitsForTheAverage) {
  Prepare(Bytes(100'000));
  for (int i = 0; i < 10; ++i) Ack(4 * kMtu, 4 * kMtu, Micros(12));
  EXPECT_EQ(window(), Bytes(100'000));  // 12 (1 - (1 - 0.0125)^10) = 1.4 us, below 9
  EXPECT_NEAR(static_cast<double>(cc_.average_delay().count()), 1418, 2);
}

TEST_F(NsccTest, OneCutTakesAtMostHalf) {
  Nscc::Config config = Quiet();
  config.delay_gain = 1;
  Nscc cc(Flow(Gbps(100)), config);
  CcDriver driver(cc, Flow(Gbps(100)));
  driver.Send(kMtu);
  driver.Ack(kMtu, kMtu, kBaseRtt + Micros(1000));  // 1 - 0.8 * 991/1000 = 0.207
  EXPECT_EQ(cc.allowance().window, kMaxWindow / 2);
}

// T-NSCC-7
TEST_F(NsccTest, OneBaseRttCutsOnce) {
  Nscc::Config config = Quiet();
  config.delay_gain = 1;
  Nscc cc(Flow(Gbps(100)), config);
  CcDriver driver(cc, Flow(Gbps(100)));
  const auto marked = [&] {
    driver.Send(kMtu);
    driver.Ack(kMtu, kMtu, kBaseRtt + Micros(12));
  };
  marked();
  driver.Advance(kBaseRtt);
  marked();
  EXPECT_EQ(cc.allowance().window, Bytes(180'000));
  driver.Advance(Duration(1));  // more than one base RTT
  marked();
  EXPECT_EQ(cc.allowance().window, Bytes(144'000));
}

TEST_F(NsccTest, AMixedAcknowledgementCountsItsUnmarkedBytes) {
  Prepare(Bytes(100'000));
  Ack(4 * kMtu, kMtu, kTarget);
  EXPECT_EQ(window(), Bytes(100'000 + 2516));  // 20480 * 12288 / 100000 = 2516.6
}

TEST_F(NsccTest, IncreasesAreAppliedInBatchesOfEightPackets) {
  Nscc::Config config = Quiet();
  config.adjust_bytes_threshold = {};
  Nscc cc(Flow(Gbps(100)), config);
  CcDriver driver(cc, Flow(Gbps(100)));
  const auto ack = [&](Bytes n) {
    driver.Send(n);
    driver.Ack(n, Bytes(0), kBaseRtt + kTarget);
  };
  ack(kMtu);
  cc.Restore({.window = Bytes(100'000)});
  ack(8 * kMtu);
  EXPECT_EQ(cc.allowance().window, Bytes(100'000));
  ack(Bytes(1));
  EXPECT_EQ(cc.allowance().window, Bytes(106'711));  // 20480 * 32769 / 100000 = 6711.1
}

TEST_F(NsccTest, EachPeriodAddsEta) {
  Nscc cc(Flow(Gbps(100)), {.eta = 1000});
  CcDriver driver(cc, Flow(Gbps(100)));
  const auto ack = [&] {  // marked below the target: no increase of its own
    driver.Send(kMtu);
    driver.Ack(kMtu, kMtu, kBaseRtt);
  };
  ack();
  cc.Restore({.window = Bytes(100'000)});
  driver.Advance(kBaseRtt - Duration(1));
  ack();
  EXPECT_EQ(cc.allowance().window, Bytes(100'000));
  driver.Advance(Duration(1));
  ack();
  EXPECT_EQ(cc.allowance().window, Bytes(101'000));
}

TEST_F(NsccTest, FastIncreaseBeginsAfterAWindowWithoutDelay) {
  Prepare(Bytes(40'000));
  Ack(Bytes(40'000), Bytes(0), Nanos(999));
  const Bytes before = window();  // still proportional: not more than a window yet
  Ack(before, Bytes(0), Nanos(999));
  EXPECT_EQ(window(), before + Bytes(before.count() / 4));  // fi_scale = 0.25 a
  cc_.Restore({.window = Bytes(40'000)});
  Ack(kMtu, Bytes(0), Micros(1));             // a queue: fast increase ends
  EXPECT_EQ(window(), Bytes(40'000 + 1118));  // 12288/9000 * 4096 * 8000 / 40000 = 1118.5
  Ack(kMtu, Bytes(0), Duration(0));
  EXPECT_LT(window(), Bytes(42'500));  // and a whole window is needed again
}

// T-NSCC-3: max_cwnd / 8 = 28125.
TEST_F(NsccTest, QuickAdaptActsBelowAnEighthOfTheLargestWindow) {
  for (const auto& [achieved, acts] : {std::pair(28'124, true), std::pair(28'125, false)}) {
    Nscc cc(Flow(Gbps(100)), Quiet());
    CcDriver driver(cc, Flow(Gbps(100)));
    driver.Send(Bytes(200'000));
    driver.Ack(Bytes(1), Bytes(1), kBaseRtt);  // opens the first period
    driver.Ack(Bytes(achieved), Bytes(achieved), kBaseRtt);
    driver.Advance(kBaseRtt + kTarget);
    driver.Lose(kMtu, LossCause::kTrim);
    if (acts) {
      EXPECT_EQ(cc.allowance().window, Bytes(28'124));
    } else {
      EXPECT_EQ(cc.allowance().window, kMaxWindow - kMtu);  // only the trimmed bytes
    }
  }
}

TEST_F(NsccTest, QuickAdaptWaitsForTheEndOfThePeriod) {
  driver_.Send(Bytes(200'000));
  driver_.Ack(Bytes(1), Bytes(1), kBaseRtt);
  driver_.Advance(kBaseRtt + kTarget - Duration(1));
  driver_.Lose(kMtu, LossCause::kTrim);
  EXPECT_EQ(window(), kMaxWindow - kMtu);
  driver_.Advance(Duration(1));
  driver_.Ack(kMtu, kMtu, kBaseRtt);  // the trim still calls for it
  EXPECT_EQ(window(), kMtu);          // achieved in the period
}

TEST_F(NsccTest, QuickAdaptCanBeDisabled) {
  Nscc::Config config = Quiet();
  config.disable_qa = true;
  Nscc cc(Flow(Gbps(100)), config);
  CcDriver driver(cc, Flow(Gbps(100)));
  driver.Send(Bytes(200'000));
  driver.Ack(Bytes(1), Bytes(1), kBaseRtt);
  driver.Advance(Micros(100));
  driver.Lose(kMtu, LossCause::kTrim);
  EXPECT_EQ(cc.allowance().window, kMaxWindow - kMtu);
}

// T-NSCC-4
TEST_F(NsccTest, AfterQuickAdaptWhatWasInFlightIsIgnoredWhileMarked) {
  driver_.Send(Bytes(100'000));
  driver_.Ack(Bytes(1), Bytes(1), kBaseRtt);
  driver_.Advance(kBaseRtt + kTarget);
  driver_.Lose(Bytes(9'999), LossCause::kTrim);  // acts; 90000 in flight
  ASSERT_EQ(window(), kMtu);
  driver_.Lose(kMtu, LossCause::kTrim);  // a trim of the same burst
  EXPECT_EQ(window(), kMtu);
  cc_.Restore({.window = Bytes(50'000)});
  driver_.Lose(kMtu, LossCause::kTrim);
  EXPECT_EQ(window(), Bytes(50'000));
  // 4096 + 4096 + 81807 = 89999 < 90000: still swallowed.
  driver_.Ack(Bytes(81'807), Bytes(81'807), kBaseRtt + Micros(20));
  EXPECT_EQ(window(), Bytes(50'000));
  driver_.Lose(Bytes(1), LossCause::kTrim);  // the 90000th: the window falls by what was trimmed
  EXPECT_EQ(window(), Bytes(49'999));
}

TEST_F(NsccTest, QuickAdaptDropsTheIncreaseNotYetApplied) {
  Nscc cc(Flow(Gbps(100)), {.eta = 1e-9, .adjust_period_threshold = Seconds(1)});
  CcDriver driver(cc, Flow(Gbps(100)));
  driver.Send(Bytes(100'000));
  driver.Ack(Bytes(1), Bytes(1), kBaseRtt);
  driver.Ack(7 * kMtu, Bytes(0), kBaseRtt + kTarget);  // inc = 20480 * 28672, not due yet
  driver.Advance(kBaseRtt + kTarget);
  driver.Ack(Bytes(1), Bytes(1), kBaseRtt);  // a new period: achieved starts at 0
  driver.Advance(kBaseRtt + kTarget);
  driver.Lose(kMtu, LossCause::kTrim);
  ASSERT_EQ(window(cc), kMtu);
  driver.Ack(9 * kMtu, Bytes(0), kBaseRtt + kTarget);
  EXPECT_EQ(window(cc), kMtu + Bytes(9 * 20'480));  // fi n / cwnd, of this one only
}

TEST_F(NsccTest, AnUnmarkedAcknowledgementIsNotIgnored) {
  driver_.Send(Bytes(100'000));
  driver_.Ack(Bytes(1), Bytes(1), kBaseRtt);
  driver_.Advance(kBaseRtt + kTarget);
  driver_.Lose(Bytes(9'999), LossCause::kTrim);
  cc_.Restore({.window = Bytes(50'000)});
  driver_.Ack(4 * kMtu, Bytes(0), kBaseRtt + kTarget);
  EXPECT_EQ(window(), Bytes(50'000 + 6710));  // fair increase: 20480 * 16384 / 50000 = 6710.9
}

TEST_F(NsccTest, WithoutTrimmingALongDelayCallsForQuickAdapt) {
  FlowInfo flow = Flow(Gbps(100));
  flow.trimming = false;
  flow.max_queue = Micros(60);  // 5 BDP: the threshold is 60 - 12 = 48 us
  for (const auto& [delay, acts] :
       {std::pair(Micros(48), false), {Micros(48) + Duration(1), true}}) {
    Nscc cc(flow, Quiet());
    CcDriver driver(cc, flow);
    driver.Send(Bytes(100'000));
    driver.Ack(Bytes(1), Bytes(1), kBaseRtt);
    driver.Advance(2 * kBaseRtt);
    driver.Ack(kMtu, kMtu, kBaseRtt + delay);
    EXPECT_EQ(cc.allowance().window == kMtu, acts);
  }
}

TEST_F(NsccTest, ALossTakesItsBytesAndAFalseOneGivesThemBack) {
  driver_.Send(Bytes(100'000));
  driver_.Lose(kMtu, LossCause::kOrder);
  EXPECT_EQ(window(), kMaxWindow - kMtu);
  cc_.OnSpurious({.now = driver_.now(), .bytes = kMtu});
  EXPECT_EQ(window(), kMaxWindow);
}

TEST_F(NsccTest, ATimeoutTakesWhatWasInFlightDownToOnePacket) {
  driver_.Send(Bytes(100'000));
  driver_.Timeout();
  EXPECT_EQ(window(), Bytes(125'000));
  driver_.Send(Bytes(125'000));
  driver_.Timeout();
  EXPECT_EQ(window(), kMtu);
}

TEST_F(NsccTest, ATrimAtTheLastHopIsLeftToTheReceiversCredit) {
  for (const bool credit : {false, true}) {
    FlowInfo flow = Flow(Gbps(100));
    flow.credit = credit;
    Nscc cc(flow, Quiet());
    CcDriver driver(cc, flow);
    driver.Send(Bytes(100'000));
    driver.Lose(kMtu, LossCause::kTrimLastHop);
    EXPECT_EQ(cc.allowance().window, credit ? kMaxWindow : kMaxWindow - kMtu);
    driver.Lose(kMtu, LossCause::kTrim);
    EXPECT_EQ(cc.allowance().window, kMaxWindow - (credit ? 1 : 2) * kMtu);
  }
}

TEST_F(NsccTest, ATrimCountsAsOneBaseRttOfDelay) {
  driver_.Send(kMtu);
  driver_.Lose(kMtu, LossCause::kTrim);
  EXPECT_EQ(cc_.average_delay(), Nanos(150));  // 0.0125 * 12 us
}

TEST_F(NsccTest, AnUnmarkedSampleAboveTheTargetCountsAsAQuarterOfTheBaseRtt) {
  Ack(kMtu, Bytes(0), kTarget + Duration(1));
  EXPECT_NEAR(static_cast<double>(cc_.average_delay().count()), 37, 1);  // 0.0125 * 3 us
}

TEST_F(NsccTest, AShorterRttIsANewBaseAndANewLargestWindow) {
  driver_.Send(kMtu);
  driver_.Ack(kMtu, kMtu, Micros(10));
  EXPECT_EQ(cc_.max_cwnd(), Bytes(187'500));  // 1.5 * 100 Gb/s * 10 us
  EXPECT_EQ(window(), Bytes(187'500));
}

TEST_F(NsccTest, WithoutAValidRttOnlyBytesAreCounted) {
  Prepare(Bytes(100'000));
  driver_.Send(8 * kMtu);
  driver_.Ack(4 * kMtu, Bytes(0), Duration(0));
  driver_.Ack(4 * kMtu, Bytes(0), kBaseRtt + kTarget, Limit::kWindow, /*host_stall=*/true);
  EXPECT_EQ(window(), Bytes(100'000));
}

// One acknowledgement of 900 kB at 800 Gb/s: inc = 163840 * 900000 = 1.5e11, beyond 32 bits.
TEST_F(NsccTest, NothingOverflowsAt800G) {
  Nscc cc(Flow(Gbps(800)), Quiet());
  CcDriver driver(cc, Flow(Gbps(800)));
  driver.Send(kMtu);
  driver.Ack(kMtu, kMtu, kBaseRtt);
  cc.Restore({.window = Bytes(900'000)});
  driver.Send(Bytes(900'000));
  driver.Ack(Bytes(900'000), Bytes(0), kBaseRtt + kTarget);
  EXPECT_EQ(cc.allowance().window, Bytes(900'000 + 163'840));  // fi n / cwnd = fi
}

}  // namespace
}  // namespace weir
