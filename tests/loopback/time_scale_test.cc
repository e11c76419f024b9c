#include "testbed/loopback/time_scale.h"

#include "gtest/gtest.h"
#include "testbed/experiment/real_time.h"

namespace weir {
namespace {

TEST(TimeScaleTest, TheFabricHasACoreAndHostsHaveTheOthers) {
  EXPECT_EQ(HostThreads(8, 1), 1u);
  EXPECT_EQ(HostThreads(8, 2), 1u);
  EXPECT_EQ(HostThreads(8, 5), 4u);
  EXPECT_EQ(HostThreads(8, 64), 8u);
  EXPECT_EQ(HostThreads(0, 4), 1u);
  EXPECT_GE(UsableCores(), 1u);
}

// Half of 10 us within 8 ms would be 0.000625: the next step below is 0.0005.
TEST(TimeScaleTest, AShortRoundTripIsSlowedUntilAStandstillIsShort) {
  EXPECT_DOUBLE_EQ(ChooseTimeScale({.hosts = 2,
                                    .rate = Mbps(1),
                                    .packet = Bytes(4186),
                                    .base_rtt = Micros(10),
                                    .host_threads = 1}),
                   0.0005);
}

TEST(TimeScaleTest, AMachineThatStandsStillForLongerIsSlowedMore) {
  Demand demand{.hosts = 2, .rate = Mbps(1), .packet = Bytes(4186), .base_rtt = Micros(10)};
  demand.standstill = Millis(24);  // a tenth of 10 us within it: 0.0000417
  EXPECT_DOUBLE_EQ(ChooseTimeScale(demand), 0.00002);
  EXPECT_GE(UsualStandstill(), kStandstillMin);
  EXPECT_EQ(UsualStandstill(), UsualStandstill());
}

// A hundred hosts at 400 Gb/s send 1.19e9 packets a second; a quarter of a core carries 1/6e-6 of
// them: 0.00014 of it. The round trip of a second asks for nothing.
TEST(TimeScaleTest, MuchTrafficIsSlowedUntilItIsAQuarterOfACore) {
  EXPECT_DOUBLE_EQ(ChooseTimeScale({.hosts = 100,
                                    .rate = Gbps(400),
                                    .packet = Bytes(4186),
                                    .base_rtt = Seconds(1),
                                    .host_threads = 8}),
                   0.0001);
}

TEST(TimeScaleTest, NothingRunsFasterThanRealTime) {
  EXPECT_DOUBLE_EQ(ChooseTimeScale({.hosts = 1,
                                    .rate = Mbps(1),
                                    .packet = Bytes(1000),
                                    .base_rtt = Seconds(1),
                                    .host_threads = 1}),
                   1);
}

constexpr Duration kBaseRtt = Micros(10);

TEST(JudgeRealTimeTest, AGapOfHalfARoundTripIsAllowedAndNoMore) {
  using Stats = RealTimeStats;
  RealTimeStats stats{.time_scale = 0.01, .fabric = Stats::FabricThread()};
  for (Duration* gap : {&stats.fabric->gap_max, &stats.host_gap_max, &stats.fabric->late_max}) {
    *gap = kBaseRtt / 2;
    EXPECT_EQ(JudgeRealTime(stats, kBaseRtt), "");
    *gap = kBaseRtt / 2 + Nanos(1);
    EXPECT_NE(JudgeRealTime(stats, kBaseRtt), "");
    *gap = Duration(0);
  }
}

TEST(JudgeRealTimeTest, ATenthOfARoundTripLateIsAllowedAndNoMore) {
  RealTimeStats stats{.fabric = RealTimeStats::FabricThread{.late_p99 = kBaseRtt / 10}};
  EXPECT_EQ(JudgeRealTime(stats, kBaseRtt), "");
  stats.fabric->late_p99 += Nanos(1);
  EXPECT_NE(JudgeRealTime(stats, kBaseRtt), "");
}

// Four times too late: a quarter of the speed would just do, half of that is proposed.
TEST(JudgeRealTimeTest, TheRemedyIsATimeScaleThatWouldDo) {
  const std::string verdict =
      JudgeRealTime({.time_scale = 0.08, .host_gap_max = 2 * kBaseRtt}, kBaseRtt);
  EXPECT_NE(verdict.find("run.time_scale=0.01"), std::string::npos) << verdict;
}

}  // namespace
}  // namespace weir
