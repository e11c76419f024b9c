#include "cc_algos/median_over_paths.h"

#include <gtest/gtest.h>

#include "cc_algos/nscc.h"
#include "cc_algos/swift.h"
#include "tests/support/cc_driver.h"

namespace weir {
namespace {

constexpr Bytes kMtu{4096};

// Tells the RTT that reached it.
class Listener final : public CongestionControl {
 public:
  struct Config {
    double any = 1;
  };
  static constexpr ParamSpec kParams[] = {Param<&Config::any>("any", 0, 1, "-", "-")};
  static constexpr CounterSpec kCounters[] = {{"none", "-"}};
  Listener(const FlowInfo&, const Config&) {}
  void OnAck(const AckSample& ack) override { rtt = ack.rtt; }
  Allowance allowance() const override { return {.window = Bytes(1)}; }
  Duration rtt{};
};

class MedianOverPathsTest : public testing::Test {
 protected:
  Duration Ack(PathId path, Duration rtt, bool host_stall = false) {
    driver_.See({.path = path});
    driver_.Send(kMtu);
    driver_.Ack(kMtu, Bytes(0), rtt, Limit::kWindow, host_stall);
    return cc_.inner().rtt;
  }

  MedianOverPaths<Listener> cc_{kTestFlow, {.inner = {}, .paths = 3}};
  CcDriver driver_{cc_};
};

TEST_F(MedianOverPathsTest, OnePathIsItsOwnMedian) {
  EXPECT_EQ(Ack(7, Micros(12)), Micros(12));
  EXPECT_EQ(Ack(7, Micros(30)), Micros(30));
}

TEST_F(MedianOverPathsTest, OneSlowPathOfThreeIsNotHeard) {
  Ack(1, Micros(12));
  Ack(2, Micros(14));
  EXPECT_EQ(Ack(3, Micros(90)), Micros(14));
  EXPECT_EQ(Ack(3, Micros(95)), Micros(14));
  EXPECT_EQ(Ack(1, Micros(13)), Micros(14));
}

TEST_F(MedianOverPathsTest, TwoSlowPathsOfThreeAre) {
  Ack(1, Micros(12));
  Ack(2, Micros(80));
  EXPECT_EQ(Ack(3, Micros(90)), Micros(80));
}

TEST_F(MedianOverPathsTest, OfTwoPathsItIsTheMean) {
  Ack(1, Micros(12));
  EXPECT_EQ(Ack(2, Micros(20)), Micros(16));
}

TEST_F(MedianOverPathsTest, TheFourthPathReplacesTheOneHeardLongestAgo) {
  Ack(1, Micros(10));
  Ack(2, Micros(20));
  Ack(1, Micros(11));
  Ack(3, Micros(30));
  EXPECT_EQ(Ack(4, Micros(40)), Micros(30));  // 11, 30, 40
}

TEST_F(MedianOverPathsTest, SamplesAreForgottenAfterFourBaseRtts) {
  Ack(1, Micros(12));
  driver_.Advance(Micros(48));
  EXPECT_EQ(Ack(2, Micros(20)), Micros(16));
  driver_.Advance(Nanos(1));
  EXPECT_EQ(Ack(2, Micros(20)), Micros(20));
}

TEST_F(MedianOverPathsTest, WhatIsNoSampleStaysNone) {
  Ack(1, Micros(12));
  EXPECT_EQ(Ack(2, Duration(0)), Duration(0));
  EXPECT_EQ(Ack(2, Micros(500), /*host_stall=*/true), Micros(500));
  EXPECT_EQ(Ack(1, Micros(14)), Micros(14));
}

// Swift at a window of 120 packets has a target of 15 us.
TEST(MSwiftTest, OneSlowPathDoesNotCutTheWindow) {
  MedianOverPaths<Swift> cc(kTestFlow, {.inner = {}, .paths = 5});
  CcDriver driver(cc);
  cc.Restore({.window = 120 * kMtu});
  for (PathId path = 0; path < 5; ++path) {
    driver.See({.path = path});
    driver.Send(kMtu);
    driver.Ack(kMtu, Bytes(0), path == 4 ? Micros(100) : Micros(12));
  }
  EXPECT_GT(cc.inner().window(), 120);
  for (PathId path = 2; path < 4; ++path) {
    driver.See({.path = path});
    driver.Send(kMtu);
    driver.Ack(kMtu, Bytes(0), Micros(100));
  }
  EXPECT_NEAR(cc.inner().window(), 60, 0.1);  // the median is 100 us: at most half
}

TEST(MNsccTest, TheDelayAverageIsOfMedians) {
  MedianOverPaths<Nscc> cc(kTestFlow, {});
  CcDriver driver(cc);
  for (PathId path = 0; path < 3; ++path) {
    driver.See({.path = path});
    driver.Send(kMtu);
    driver.Ack(kMtu, kMtu, path == 0 ? Micros(112) : Micros(12));
  }
  // Medians 112, (112 + 12)/2 = 62 and 12 us; so delays of 100, 50 and 0 us, each with weight 1/80.
  const double first = 100'000 / 80.0;
  const double second = first + (50'000 - first) / 80;
  EXPECT_NEAR(static_cast<double>(cc.inner().average_delay().count()), second * 79 / 80, 1);
}

}  // namespace
}  // namespace weir
