// Classes of data that share links: by weight, by strict priority, and not at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testbed/experiment/experiment.h"
#include "testbed/experiment/runner.h"
#include "tests/support/fabric_rig.h"

namespace weir {
namespace {

using testing::HasSubstr;

constexpr Rate kRate = Gbps(100);  // 1000 B take 80 ns
constexpr Duration kDelay = Micros(1);

Topology Star(uint32_t senders) {
  return SingleBottleneck({.senders = senders, .rate = kRate, .delay = kDelay});
}

// Of host 0's and host 1's packets to host 2, classes 0 and 1, how many of the first `n` that
// arrive are host 0's.
uint32_t FirstArrivals(FabricRig& rig, uint32_t n) {
  std::vector<bool> is_first;
  for (uint32_t i = 0; i < 400; ++i) {
    for (const uint32_t host : {0u, 1u}) {
      rig.Send({.from = host, .to = 2, .traffic_class = static_cast<uint8_t>(host)});
      is_first.push_back(host == 0);
    }
  }
  rig.RunFor(Millis(1));
  EXPECT_EQ(rig.arrivals().size(), 800u);
  EXPECT_EQ(rig.Breach(), "");
  uint32_t first = 0;
  for (uint32_t i = 0; i < n; ++i) first += is_first[rig.arrivals()[i].sequence] ? 1 : 0;
  return first;
}

// A turn is ten packets of the heavier class: counts are within one turn of the weights.
TEST(TrafficClassesTest, WeightsAreSharesOfTheLink) {
  for (const auto& [a, b] : {std::pair(1u, 1u), {3u, 1u}, {1u, 4u}, {100u, 1u}}) {
    FabricRig rig(Star(2), {.classes = {{.weight = a}, {.weight = b}}});
    const double share = static_cast<double>(a) / (a + b);
    EXPECT_NEAR(FirstArrivals(rig, 400), 400 * share, 11) << a << ":" << b;
  }
}

TEST(TrafficClassesTest, AClassAloneHasTheWholeLink) {
  FabricRig rig(Star(1), {.classes = {{.weight = 100}, {.weight = 1}}});
  for (int i = 0; i < 100; ++i) rig.Send({.from = 0, .to = 1, .traffic_class = 1});
  rig.RunFor(Millis(1));
  ASSERT_EQ(rig.arrivals().size(), 100u);
  EXPECT_EQ(rig.arrivals().back().at, Time(0) + 101 * Nanos(80) + 2 * kDelay);
}

// Strict before weights, whatever the order they are listed in; it waits for one packet at most.
TEST(TrafficClassesTest, AStrictClassWaitsForThePacketInServiceOnly) {
  FabricRig rig(Star(2), {.classes = {{.weight = 9}, {.strict = true}}});
  for (int i = 0; i < 100; ++i) rig.Send({.from = 0, .to = 2});
  rig.RunFor(kDelay + Nanos(500));
  const uint32_t strict = rig.Send({.from = 1, .to = 2, .traffic_class = 1});
  rig.RunFor(Millis(1));
  for (const Arrival& a : rig.arrivals()) {
    if (a.sequence != strict) continue;
    EXPECT_LE(a.at, Time(0) + 3 * kDelay + Nanos(500) + 3 * Nanos(80));
  }
  EXPECT_EQ(rig.arrivals().size(), 101u);
}

// 12 packets of each class meet; of each one is dropped, or the first one leaves at once.
TEST(TrafficClassesTest, LimitsAndMarksAreByClass) {
  FabricRig rig(Star(24), {.queue_limit = Bytes(10'000),
                           .mark_min = Bytes(5'000),
                           .mark_max = Bytes(5'000),
                           .classes = {{}, {}}});
  for (uint32_t h = 0; h < 24; ++h) {
    rig.Send({.from = h, .to = 24, .traffic_class = static_cast<uint8_t>(h % 2)});
  }
  rig.RunFor(Millis(1));
  EXPECT_EQ(rig.fabric().stats().dropped, 3u);
  // As each class's ten leave, 9, 8, ... 0 of it are behind: four times more than 5.
  EXPECT_EQ(rig.fabric().stats().marks, 8u);
  EXPECT_EQ(rig.Port(25, 24).queue_peak, Bytes(20'000));
}

TEST(TrafficClassesTest, APausedClassStopsNoOther) {
  FabricRig rig(Dumbbell({.pairs = 2, .rate = kRate, .bottleneck = Gbps(10), .delay = kDelay}),
                {.buffer = MiB(1),
                 .pfc = true,
                 .pfc_xoff = Bytes(20'000),
                 .classes = {{.strict = true}, {.weight = 1}}});
  for (int i = 0; i < 200; ++i) rig.Send({.from = 0, .to = 2, .traffic_class = 1});
  rig.RunFor(Micros(20));
  EXPECT_TRUE(rig.fabric().HostPaused(0));
  const uint32_t other = rig.Send({.from = 0, .to = 2, .traffic_class = 0});
  rig.RunFor(Millis(1));
  // Behind one packet at 100 Gb/s, then one at 10.
  for (const Arrival& a : rig.arrivals()) {
    if (a.sequence != other) continue;
    EXPECT_LE(a.at, Time(0) + Micros(20) + 3 * kDelay + 3 * Nanos(80) + 2 * Nanos(800));
  }
  EXPECT_EQ(rig.arrivals().size(), 201u);
  EXPECT_EQ(rig.fabric().stats().dropped, 0u);
  EXPECT_FALSE(rig.fabric().HostPaused(0));
  EXPECT_EQ(rig.Breach(), "");
}

// Hosts 0, 1 | 2, 3 | 4, 5: host 2 of the first job and host 3 of the second share leaf 1's only
// way up.
const std::string kTwoJobs =
    "[[jobs]]\nname = \"a\"\ntype = \"collective\"\ncollective = \"alltoall\"\nranks = 3\n"
    "size = \"3MB\"\n"
    "[[jobs]]\nname = \"b\"\ntype = \"collective\"\ncollective = \"broadcast\"\nranks = 2\n"
    "size = \"20MB\"\n"
    "[[arms]]\ncc = \"none\"\nlb = \"ecmp\"\n";
const std::string kSmall =
    "[fabric]\nleaves = 3\nhosts_per_leaf = 2\nspines = 1\nrate = \"100Gbps\"\n";
const std::string kClasses =
    "[[fabric.classes]]\nname = \"first\"\n"
    "[[fabric.classes]]\nname = \"rest\"\n";

Experiment Parse(const std::string& text, const std::vector<std::string>& sets = {}) {
  absl::StatusOr<Experiment> e = ParseExperiment(text, "test", sets);
  EXPECT_TRUE(e.ok()) << e.status().message();
  return e.ok() ? *std::move(e) : Experiment{};
}
RunResult RunOf(const Experiment& e) {
  RunResult r = RunArm(e, e.arms[0], 1);
  EXPECT_TRUE(r.finished);
  EXPECT_THAT(r.breaches, testing::IsEmpty());
  return r;
}
Duration TimeOf(const RunResult& r, const std::string& collective) {
  for (const OperationResult& o : r.operations) {
    if (o.name == collective) return o.end - o.first_arrival;
  }
  ADD_FAILURE() << "no " << collective;
  return {};
}

TEST(TrafficClassesTest, AJobOfAStrictClassRunsAsIfAlone) {
  const Duration alone =
      TimeOf(RunOf(Parse(kSmall + kTwoJobs, {"jobs.1.start=100ms"})), "alltoall");
  const Duration shared = TimeOf(RunOf(Parse(kSmall + kTwoJobs)), "alltoall");
  const Duration strict =
      TimeOf(RunOf(Parse(kSmall + kClasses + kTwoJobs,
                         {"fabric.classes.0.strict=true", "jobs.1.class=rest"})),
             "alltoall");
  EXPECT_GT(Ratio(shared, alone), 1.2);
  EXPECT_LT(Ratio(strict, alone), 1.03);
}

// What has one class, or several of which one is used, runs as without.
TEST(TrafficClassesTest, OneClassChangesNothing) {
  const uint64_t plain = RunOf(Parse(kSmall + kTwoJobs)).digest;
  EXPECT_EQ(RunOf(Parse(kSmall + "[[fabric.classes]]\nname = \"all\"\n" + kTwoJobs)).digest, plain);
  EXPECT_EQ(RunOf(Parse(kSmall + kClasses + kTwoJobs)).digest, plain);
  EXPECT_NE(RunOf(Parse(kSmall + kClasses + kTwoJobs, {"jobs.1.class=rest"})).digest, plain);
}

TEST(TrafficClassesTest, ARuleOfAnArmMatchesAClassOrACollective) {
  for (const std::string match : {"class = \"rest\"", "collective = \"broadcast\""}) {
    const Experiment e =
        Parse(kSmall + kClasses + kTwoJobs + "[[arms.rules]]\ncc = \"dctcp\"\n" + match + "\n",
              {"jobs.1.class=rest"});
    const RunResult r = RunOf(e);
    ASSERT_EQ(r.rules.size(), 2u);
    EXPECT_EQ(r.rules[0].connections, 1u) << match;  // host 3 to host 4
    EXPECT_EQ(r.rules[1].connections, 6u) << match;  // pairs of the all-to-all
  }
}

TEST(TrafficClassesTest, RefusalsNameTheKeyAndTheRemedy) {
  const auto error = [](const std::string& text, const std::vector<std::string>& sets = {}) {
    return std::string(ParseExperiment(text, "test", sets).status().message());
  };
  EXPECT_THAT(error(kSmall + kTwoJobs, {"jobs.0.class=first"}),
              HasSubstr("add [[fabric.classes]]"));
  EXPECT_THAT(error(kSmall + kClasses + kTwoJobs, {"jobs.0.class=gold"}),
              HasSubstr("choose one of first, rest"));
  EXPECT_THAT(error(kSmall + kClasses + kTwoJobs,
                    {"fabric.classes.0.strict=true", "fabric.classes.0.weight=2"}),
              HasSubstr("weight: and strict exclude each other"));
  EXPECT_THAT(error(kSmall + kClasses + kTwoJobs, {"fabric.classes.1.name=first"}),
              HasSubstr("a name of its own"));
  EXPECT_THAT(error(kSmall + kClasses + kTwoJobs, {"fabric.classes.1.weight=101"}),
              HasSubstr("weight"));
  EXPECT_THAT(error(kSmall + "[[fabric.classes]]\nstrict = true\n" + kTwoJobs),
              HasSubstr("name: is missing"));
  std::string many;
  for (int i = 0; i < 5; ++i) {
    many += "[[fabric.classes]]\nname = \"c" + std::to_string(i) + "\"\n";
  }
  EXPECT_THAT(error(kSmall + many + kTwoJobs), HasSubstr("are 5; packets tell 4 apart"));
}

}  // namespace
}  // namespace weir
