// Experiments from text, and what a run must always keep.
#include "testbed/experiment/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "testbed/experiment/homes.h"
#include "testbed/experiment/load_parts.h"
#include "testbed/experiment/runner.h"

namespace weir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kFabric =
    "[fabric]\nleaves = 2\nhosts_per_leaf = 4\nspines = 4\nrate = \"100Gbps\"\n";
const std::string kArm = "[[arms]]\ncc = \"nscc\"\nlb = \"reps\"\n";

Experiment Parse(const std::string& text, const std::vector<std::string>& sets = {}) {
  absl::StatusOr<Experiment> e = ParseExperiment(text, "test", sets);
  EXPECT_TRUE(e.ok()) << e.status().message();
  return e.ok() ? *std::move(e) : Experiment{};
}
std::string ErrorOf(const std::string& text, const std::vector<std::string>& sets = {}) {
  return std::string(ParseExperiment(text, "test", sets).status().message());
}

TEST(ExperimentTest, AnOverrideReplacesTheFilesValue) {
  const Experiment e = Parse(kFabric + kArm, {"fabric.rate=25Gbps", "run.seeds=[4,9]",
                                              "arms.0.paths=7", "arms.0.cc_params.gamma=0.5"});
  EXPECT_EQ(e.fabric.topology.links[0].rate, Gbps(25));
  EXPECT_THAT(e.seeds, ElementsAre(4, 9));
  EXPECT_EQ(e.arms[0].binding.paths, 7u);
}

TEST(ExperimentTest, ALinkIsNamedByItsEnds) {
  const Experiment e = Parse(kFabric + kArm);
  const Topology& t = e.fabric.topology;
  EXPECT_EQ(NodeName(t, 0), "host0");
  EXPECT_EQ(NodeName(t, 8), "leaf0");
  EXPECT_EQ(NodeName(t, 10), "spine0");
  const Experiment faulty =
      Parse(kFabric + kArm + "[[faults]]\nkind = \"link_down\"\nlink = \"leaf1-spine2\"\n");
  EXPECT_EQ(LinkName(t, faulty.faults[0].target), "leaf1-spine2");
  // Several at once, each a fault of its own.
  const Experiment slow = Parse(kFabric + kArm +
                                "[[faults]]\nkind = \"degraded\"\nlink = \"leaf*-spine2\"\n"
                                "share = 0.5\nscale_queues = true\n");
  ASSERT_EQ(slow.faults.size(), 2u);
  EXPECT_EQ(LinkName(t, slow.faults[0].target), "leaf0-spine2");
  EXPECT_EQ(LinkName(t, slow.faults[1].target), "leaf1-spine2");
  EXPECT_TRUE(slow.faults[1].scale_queues);
  // Two links between a leaf and a spine: the first, one of each bundle, or all.
  const auto links = [](const std::string& link) {
    const Experiment bundled = Parse(kFabric + "bundle = 2\n" + kArm +
                                     "[[faults]]\nkind = \"link_down\"\nlink = \"" + link + "\"\n");
    std::vector<uint32_t> targets;
    for (const Fault& fault : bundled.faults) targets.push_back(fault.target);
    return targets;
  };
  const std::vector<uint32_t> all = links("leaf*-spine2");
  ASSERT_EQ(all.size(), 4u);
  EXPECT_THAT(links("leaf0-spine2"), ElementsAre(all[0]));
  EXPECT_THAT(links("leaf*-spine2#1"), ElementsAre(all[1], all[3]));
}

TEST(ExperimentTest, ErrorsNamePlaceReasonAndRemedy) {
  EXPECT_THAT(ErrorOf(kFabric), HasSubstr("add [[arms]]"));
  EXPECT_THAT(
      ErrorOf(kFabric + kArm + "[[faults]]\nkind = \"link_down\"\nlink = \"leaf9-spine0\"\n"),
      HasSubstr("test:11: [faults] link: there is no link \"leaf9-spine0\""));
  EXPECT_THAT(ErrorOf(kFabric + kArm + "[[faults]]\nkind = \"impairment\"\n"),
              HasSubstr("has no effect"));
  EXPECT_THAT(ErrorOf(kFabric + "pfc = true\n" + kArm), HasSubstr("needs a buffer"));
  EXPECT_THAT(ErrorOf(kFabric + "queue_limit = 12\n" + kArm), HasSubstr("1bdp"));
  EXPECT_THAT(ErrorOf("a = \n"), HasSubstr("test:1:"));
  EXPECT_THAT(ErrorOf(kFabric + kArm, {"nonsense"}), HasSubstr("section.key=value"));
  EXPECT_THAT(ErrorOf(kFabric + kArm, {"arms.3.cc=nscc"}), HasSubstr("below 1"));
  EXPECT_THAT(ErrorOf(kFabric + kArm, {"run.home=mars"}), HasSubstr("choose one of virtual"));
  EXPECT_THAT(ErrorOf(kFabric + kArm, {"run.time_scale=0.1"}), HasSubstr("no effect in virtual"));
  EXPECT_THAT(ErrorOf(kFabric + kArm, {"run.home=loopback", "run.time_scale=2.0"}),
              HasSubstr("time_scale"));
  EXPECT_THAT(ErrorOf(kFabric + kArm, {"run.home=loopback", "fabric.leaves=8"}),
              HasSubstr(HasLoopback() ? "has room for 30" : "install libdpdk-dev"));
  EXPECT_THAT(ErrorOf(kFabric + kArm, {"run.home=ports"}),
              HasSubstr("[[ports]] names 0 devices; name one for each host"));
  EXPECT_THAT(ErrorOf(kFabric + kArm + "[[ports]]\naddress = \"10.0.0.1/24\"\n"),
              HasSubstr("name: is missing"));
  if (HasLoopback()) {
    EXPECT_THAT(ErrorOf(kFabric + kArm + "[[ports]]\nname = \"dpdk:0\"\n"),
                HasSubstr("address: is missing"));
  }
  EXPECT_THAT(ErrorOf(kFabric + kArm + "[[ports]]\nname = \"a\"\naddress = \"b\"\nspeed = 1\n"),
              HasSubstr("speed"));
}

TEST(ArmRulesTest, TheFirstThatMatchesDecidesAndTheResultSaysHowOften) {
  // Hosts 0 to 3 are below one leaf, 4 to 7 below the other.
  const std::string matrix = "[traffic]\ntype = \"all_to_all\"\nsize = \"20kB\"\n";
  const std::string near =
      "[[arms.rules]]\nname = \"near\"\ndistance = \"leaf\"\ncc = \"dctcp\"\nlb = \"ecmp\"\n";
  const std::string all =
      "[[arms.rules]]\nname = \"small\"\nsize_max = \"20kB\"\ncc = \"none\"\nlb = \"ecmp\"\n";
  const auto uses = [&](const std::string& rules) {
    const Experiment e = Parse(kFabric + matrix + kArm + rules);
    const RunResult r = RunArm(e, e.arms[0], 1);
    EXPECT_TRUE(r.finished);
    EXPECT_THAT(r.breaches, testing::IsEmpty());
    std::vector<std::pair<std::string, uint32_t>> out;
    for (const RuleUse& use : r.rules) out.emplace_back(use.rule, use.connections);
    return out;
  };
  using Uses = std::vector<std::pair<std::string, uint32_t>>;
  // 56 ordered pairs, 2 x 12 of them within a leaf.
  EXPECT_EQ(uses(near), (Uses{{"near", 24}, {"no rule", 32}}));
  EXPECT_EQ(uses(near + all), (Uses{{"near", 24}, {"small", 32}, {"no rule", 0}}));
  EXPECT_EQ(uses(all + near), (Uses{{"small", 56}, {"near", 0}, {"no rule", 0}}));
  EXPECT_EQ(uses(""), Uses{});
}

TEST(ArmRulesTest, ARuleDecidesWhatItsConnectionsRunAndNoOthers) {
  const std::string matrix = "[traffic]\ntype = \"all_to_all\"\nsize = \"20kB\"\n";
  const std::string slow = "cc = \"none\"\nlb = \"ecmp\"\ncc_params = { rate = \"1Gbps\" }\n";
  // Within a leaf 20 kB at 1 Gb/s take at least 128 us less the first packet; the rest is quick.
  const Experiment e =
      Parse(kFabric + matrix + kArm + "[[arms.rules]]\ndistance = \"leaf\"\n" + slow);
  const RunResult r = RunArm(e, e.arms[0], 1);
  ASSERT_TRUE(r.finished);
  for (const TransferResult& t : r.transfers) {
    const bool near = t.from / 4 == t.to / 4;
    EXPECT_EQ(t.sent - t.start > Micros(120), near) << t.from << " to " << t.to;
  }
  // A rule that matches nothing changes nothing.
  const Experiment plain = Parse(kFabric + matrix + kArm);
  const Experiment idle =
      Parse(kFabric + matrix + kArm + "[[arms.rules]]\nsize_min = \"1MB\"\n" + slow);
  EXPECT_EQ(RunArm(plain, plain.arms[0], 1).digest, RunArm(idle, idle.arms[0], 1).digest);
}

TEST(ArmRulesTest, RefusalsNameTheRule) {
  const std::string rule = "[[arms.rules]]\nname = \"x\"\n";
  EXPECT_THAT(ErrorOf(kFabric + kArm + rule), HasSubstr("a rule needs distance"));
  EXPECT_THAT(ErrorOf(kFabric + kArm + rule + "size_max = \"1kB\"\ncc = \"rccc\"\n"),
              HasSubstr("arm \"nscc/reps\", x: rccc has another receiver than nscc"));
  EXPECT_THAT(ErrorOf(kFabric + kArm + rule + "size_max = \"1kB\"\ncc = \"hpcc\"\nlb = \"ecmp\"\n"),
              HasSubstr("telemetry"));
  EXPECT_THAT(ErrorOf(kFabric + kArm + rule + "distance = \"rack\"\n"), HasSubstr("leaf"));
  EXPECT_THAT(ErrorOf(kFabric + kArm + rule + "distances = \"leaf\"\n"),
              HasSubstr("did you mean \"distance\"?"));
}

TEST(RunnerTest, AnIdleFabricCarriesOneTransferInItsIdealTime) {
  // 8 leaf-spine hosts; the ideal is the derivation of testbed/traffic/ideal.cc.
  const Experiment e =
      Parse(kFabric + "[traffic]\ntype = \"incast\"\nsenders = 1\nsize = \"1MB\"\n" + kArm);
  const RunResult r = RunArm(e, e.arms[0], 1);
  ASSERT_TRUE(r.finished);
  EXPECT_THAT(r.breaches, testing::IsEmpty());
  EXPECT_NEAR(r.slowdown.mean, 1.0, 0.005);
  EXPECT_EQ(r.counters.retransmitted_packets, 0u);
}

TEST(RunnerTest, TriggersOfARingRunInOrder) {
  const Experiment e =
      Parse(kFabric + "[traffic]\ntype = \"ring_all_reduce\"\nsize = \"800kB\"\n" + kArm);
  const RunResult r = RunArm(e, e.arms[0], 1);
  ASSERT_TRUE(r.finished);
  EXPECT_EQ(r.transfers.size(), 8u * 14u);  // 8 ranks, 2 (8 - 1) steps
  EXPECT_LT(Ratio(r.makespan, r.ideal), 1.1);
}

TEST(RunnerTest, ADeadLinkIsSurvivedBySprayingAndEndsASinglePath) {
  const std::string traffic = "[traffic]\ntype = \"permutation\"\nsize = \"500kB\"\n";
  const std::string faults =
      "[[faults]]\nkind = \"link_down\"\nlink = \"leaf0-spine1\"\nat = \"5us\"\n";
  const std::string run = "[run]\ntime_limit = \"20ms\"\n";
  const Experiment sprayed = Parse(kFabric + traffic + faults + run + kArm);
  const RunResult good = RunArm(sprayed, sprayed.arms[0], 1);
  EXPECT_TRUE(good.finished);
  EXPECT_GT(good.fabric->stats.lost_by_fault, 0u);
  // Some seed puts a flow of a single path on the dead link: it never finishes.
  const Experiment single =
      Parse(kFabric + traffic + faults + run + "[[arms]]\ncc = \"nscc\"\nlb = \"ecmp\"\n");
  int stuck = 0;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    stuck += RunArm(single, single.arms[0], seed).finished ? 0 : 1;
  }
  EXPECT_GT(stuck, 0);
}

TEST(RunnerTest, LosslessModePausesAndDropsNothing) {
  const Experiment e = Parse(kFabric + "pfc = true\nbuffer = \"2MB\"\n" +
                             "[traffic]\ntype = \"incast\"\nsenders = 7\nsize = \"500kB\"\n" +
                             "[[arms]]\ncc = \"none\"\nlb = \"ecmp\"\n");
  const RunResult r = RunArm(e, e.arms[0], 1);
  ASSERT_TRUE(r.finished);
  EXPECT_EQ(r.fabric->stats.dropped, 0u);
  EXPECT_EQ(r.counters.retransmitted_packets, 0u);
  EXPECT_GT(r.fabric->pauses, 0u);
}

TEST(RunnerTest, BothAddressFamiliesCarryTheSameTraffic) {
  const std::string rest = "[traffic]\nsize = \"200kB\"\n" + kArm;
  const Experiment v4 = Parse(kFabric + rest);
  const Experiment v6 = Parse(kFabric + "[transport]\nip = \"v6\"\npayload = \"8192B\"\n" + rest);
  const RunResult four = RunArm(v4, v4.arms[0], 1);
  const RunResult six = RunArm(v6, v6.arms[0], 1);
  EXPECT_TRUE(four.finished);
  EXPECT_TRUE(six.finished);
  EXPECT_NE(four.digest, six.digest);
}

}  // namespace
}  // namespace weir
