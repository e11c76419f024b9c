#include "datapath/timer_wheel.h"

#include <map>
#include <vector>

#include "datapath/api/rng.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

TEST(TimerWheelTest, ExpiresInOrderOfDeadlines) {
  TimerWheel wheel(3);
  wheel.Arm(0, Time(5000));
  wheel.Arm(1, Time(70));
  wheel.Arm(2, Time(300'000));
  EXPECT_EQ(wheel.PopDue(Time(69)), TimerWheel::kNone);
  EXPECT_EQ(wheel.PopDue(Time(70)), 1u);
  EXPECT_EQ(wheel.PopDue(Time::Never()), 0u);
  EXPECT_EQ(wheel.clock(), Time(5000));
  EXPECT_EQ(wheel.PopDue(Time::Never()), 2u);
  EXPECT_EQ(wheel.PopDue(Time::Never()), TimerWheel::kNone);
}

TEST(TimerWheelTest, EqualDeadlinesExpireInTheOrderArmed) {
  TimerWheel wheel(4);
  const Time at(123'456'789);
  wheel.Arm(2, at);
  wheel.Arm(0, at);
  wheel.PopDue(Time(123'456'000));  // now much nearer: the next ones start further down
  wheel.Arm(3, at);
  wheel.Arm(1, at);
  for (const uint32_t id : {2u, 0u, 3u, 1u}) EXPECT_EQ(wheel.PopDue(at), id);
}

TEST(TimerWheelTest, APastDeadlineExpiresAtOnce) {
  TimerWheel wheel(2);
  wheel.PopDue(Time(1000));
  wheel.Arm(0, Time(10));
  EXPECT_EQ(wheel.Earliest(), Time(1000));
  EXPECT_EQ(wheel.PopDue(Time(1000)), 0u);
}

TEST(TimerWheelTest, NeverDisarms) {
  TimerWheel wheel(2);
  wheel.Arm(0, Time(10));
  wheel.Arm(0, Time::Never());
  EXPECT_FALSE(wheel.armed(0));
  EXPECT_EQ(wheel.deadline(0), Time::Never());
  EXPECT_EQ(wheel.Earliest(), Time::Never());
}

// A clock that counts from 1970 stands near 1.8e18 ns, above 2^60.
TEST(TimerWheelTest, TheWholeRangeOfTimeIsCovered) {
  TimerWheel wheel(3);
  const Time last(Time::Never().nanos() - 1);
  wheel.Arm(0, last);
  wheel.Arm(1, Time(1'800'000'000'000'000'000));
  EXPECT_LE(wheel.Earliest(), Time(1'800'000'000'000'000'000));
  EXPECT_EQ(wheel.PopDue(Time(1'799'999'999'999'999'999)), TimerWheel::kNone);
  wheel.Arm(2, Time(1'800'000'000'000'000'001));
  EXPECT_EQ(wheel.PopDue(last), 1u);
  EXPECT_EQ(wheel.PopDue(last), 2u);
  EXPECT_EQ(wheel.PopDue(last), 0u);
  EXPECT_EQ(wheel.clock(), last);
}

// Each digit of the clock rolls over with a timer on either side of the edge.
TEST(TimerWheelTest, CascadesAcrossEveryLevel) {
  TimerWheel wheel(2);
  for (int shift = 6; shift < 60; shift += 6) {
    SCOPED_TRACE(shift);
    const Time edge(int64_t{1} << shift);
    wheel.Arm(0, edge);
    wheel.Arm(1, edge - Nanos(1));
    EXPECT_EQ(wheel.PopDue(edge), 1u);
    EXPECT_EQ(wheel.PopDue(edge), 0u);
  }
}

// Against a sorted map, whose equal keys keep the order of insertion, too.
class TimerModel {
 public:
  TimerModel(uint64_t seed, uint32_t timers)
      : rng_(seed), wheel_(timers), where_(timers, due_.end()) {}

  void Step() {
    const uint32_t id = rng_.Below(static_cast<uint32_t>(where_.size()));
    const uint32_t kind = rng_.Below(10);
    if (kind < 5) return Arm(id, Time(now_.nanos() + Distance()));
    if (kind < 6) return Disarm(id);
    const Time until(now_.nanos() + Distance());
    CheckEarliest();
    for (int i = 0; i < 3; ++i) {
      if (!Pop(until)) return;
    }
  }

 private:
  using Map = std::multimap<Time, uint32_t>;

  // From nothing to a few years, each magnitude as often.
  int64_t Distance() {
    const uint32_t bits = rng_.Below(58);
    return static_cast<int64_t>(rng_.Next() & ((uint64_t{1} << bits) - 1));
  }
  void Arm(uint32_t id, Time at) {
    // Not far beyond what is reached: the clock must not run out of bits.
    if (at.nanos() > Time::Never().nanos() / 2) return;
    if (rng_.Chance(0.3) && !due_.empty()) at = due_.begin()->first;  // an equal one
    Disarm(id);
    where_[id] = due_.emplace(at, id);
    wheel_.Arm(id, at);
    ASSERT_EQ(wheel_.deadline(id), at);
  }
  void Disarm(uint32_t id) {
    wheel_.Disarm(id);
    ASSERT_FALSE(wheel_.armed(id));
    if (where_[id] != due_.end()) due_.erase(where_[id]);
    where_[id] = due_.end();
  }
  bool Pop(Time until) {
    const uint32_t id = wheel_.PopDue(until);
    const bool any = !due_.empty() && due_.begin()->first <= until;
    EXPECT_EQ(id != TimerWheel::kNone, any);
    if (!any || id == TimerWheel::kNone) {
      if (until.nanos() < Time::Never().nanos() / 2) now_ = std::max(now_, until);
      return false;
    }
    EXPECT_EQ(id, due_.begin()->second);
    now_ = std::max(now_, due_.begin()->first);
    EXPECT_EQ(wheel_.clock(), now_);
    where_[id] = due_.end();
    due_.erase(due_.begin());
    return true;
  }
  void CheckEarliest() {
    const Time earliest = wheel_.Earliest();
    if (due_.empty()) {
      EXPECT_EQ(earliest, Time::Never());
      return;
    }
    EXPECT_LE(earliest, due_.begin()->first);
    EXPECT_GE(earliest, wheel_.clock());
  }

  Rng rng_;
  TimerWheel wheel_;
  Map due_;
  std::vector<Map::iterator> where_;
  Time now_{};
};

TEST(TimerWheelTest, BehavesLikeASortedMap) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    TimerModel model(seed, seed % 3 == 0 ? 3 : 100);
    for (int i = 0; i < 3000; ++i) model.Step();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace weir
