#include "testbed/fabric/faults.h"

#include <map>

#include "datapath/api/rng.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

constexpr Duration kHorizon = Millis(10);

struct Step {
  Duration at;
  uint32_t fault;
  bool begins;
  friend bool operator==(const Step&, const Step&) = default;
};
std::vector<Step> Steps(const std::vector<Fault>& faults) {
  std::vector<Step> steps;
  for (const FaultStep& s : FaultSteps(faults, kHorizon)) {
    steps.push_back({s.at, s.fault, s.begins});
  }
  return steps;
}

TEST(FaultsTest, AFaultBeginsAndEnds) {
  EXPECT_EQ(Steps({{.at = Micros(5), .lasts = Micros(7)}}),
            (std::vector<Step>{{Micros(5), 0, true}, {Micros(12), 0, false}}));
}

TEST(FaultsTest, AFaultWithoutEndOnlyBegins) {
  EXPECT_EQ(Steps({{.at = Micros(5)}}), (std::vector<Step>{{Micros(5), 0, true}}));
  // Up to the horizon is as good as for ever.
  EXPECT_EQ(Steps({{.at = Micros(5), .lasts = kHorizon - Micros(5)}}).size(), 1u);
  EXPECT_EQ(Steps({{.at = Micros(5), .lasts = kHorizon - Micros(6)}}).size(), 2u);
}

TEST(FaultsTest, NothingBeginsAtOrBeyondTheHorizon) {
  EXPECT_TRUE(
      Steps({{.at = kHorizon},
             {.kind = FaultKind::kLinkFlap, .at = kHorizon + Micros(1), .period = Micros(1)}})
          .empty());
}

// Down from 10 to 15 and from 20 to 25; the end at 27 finds it up.
TEST(FaultsTest, AFlapIsDownForHalfOfEachPeriod) {
  EXPECT_EQ(Steps({{.kind = FaultKind::kLinkFlap,
                    .at = Micros(10),
                    .lasts = Micros(17),
                    .period = Micros(10)}}),
            (std::vector<Step>{{Micros(10), 0, true},
                               {Micros(15), 0, false},
                               {Micros(20), 0, true},
                               {Micros(25), 0, false},
                               {Micros(27), 0, false}}));
}

TEST(FaultsTest, StepsComeInOrderOfTimeAndThenOfFaults) {
  const std::vector<Step> steps = Steps({{.at = Micros(5), .lasts = Micros(5)},
                                         {.at = Micros(2), .lasts = Micros(3)},
                                         {.at = Micros(10)}});
  EXPECT_EQ(steps, (std::vector<Step>{{Micros(2), 1, true},
                                      {Micros(5), 0, true},
                                      {Micros(5), 1, false},
                                      {Micros(10), 0, false},
                                      {Micros(10), 2, true}}));
}

// A flap of two nanoseconds for a second would be half a million times too many.
TEST(FaultsTest, TheNumberOfStepsIsBounded) {
  EXPECT_LE(FaultSteps({{.kind = FaultKind::kLinkFlap, .period = Nanos(2)}}, Seconds(1)).size(),
            1'000'001u);
}

// Whatever a finite fault does, its last step ends it.
TEST(FaultsTest, EveryFiniteFaultEnds) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    std::vector<Fault> faults;
    for (uint32_t n = 1 + rng.Below(5); n > 0; --n) {
      faults.push_back({.kind = static_cast<FaultKind>(rng.Below(5)),
                        .at = Nanos(rng.Below(5'000'000)),
                        .lasts = Nanos(1 + rng.Below(4'000'000)),
                        .period = Nanos(1'000 + rng.Below(1'000'000))});
    }
    std::map<uint32_t, bool> active;
    Duration last{};
    for (const Step& s : Steps(faults)) {
      EXPECT_GE(s.at, last);
      last = s.at;
      active[s.fault] = s.begins;
    }
    EXPECT_EQ(active.size(), faults.size());
    for (const auto& [fault, on] : active) EXPECT_FALSE(on) << fault;
  }
}

}  // namespace
}  // namespace weir
