// Where the time of collectives and steps goes: the parts add up, and each has its cause.
#include "testbed/experiment/breakdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "testbed/experiment/experiment.h"
#include "testbed/experiment/report.h"
#include "testbed/experiment/runner.h"
#include "testbed/report/html_report.h"

namespace weir {
namespace {

using testing::HasSubstr;

const std::string kFabric =
    "[fabric]\nleaves = 2\nhosts_per_leaf = 4\nspines = 4\nrate = \"100Gbps\"\n";
const std::string kPlain = "[[arms]]\ncc = \"none\"\nlb = \"ecmp\"\n";

std::string Collective(const std::string& rest) {
  return "[traffic]\ntype = \"collective\"\n" + rest;
}

Experiment Parse(const std::string& text, std::vector<std::string> sets = {}) {
  sets.push_back("run.breakdown=true");
  absl::StatusOr<Experiment> e = ParseExperiment(text, "test", sets);
  EXPECT_TRUE(e.ok()) << e.status().message();
  return e.ok() ? *std::move(e) : Experiment{};
}
RunResult RunOf(const Experiment& e, size_t arm = 0) {
  RunResult r = RunArm(e, e.arms[arm], 1);
  EXPECT_TRUE(r.finished);
  return r;
}
Duration Sum(const Breakdown& parts) {
  return std::accumulate(parts.begin(), parts.end(), Duration(0));
}
// A part's share of the only collective's time.
double Share(const RunResult& r, TimePart part) {
  const OperationResult& o = r.operations.at(0);
  return Ratio(o.breakdown.at(static_cast<size_t>(part)), o.end - o.first_arrival);
}

TEST(BreakdownTest, PartsAddUpToTheTimeOfEveryCollectiveAndStep) {
  const std::string arms =
      kPlain +
      "[[arms]]\ncc = \"nscc\"\nlb = \"reps\"\n[[arms]]\ncc = \"rccc\"\nlb = \"oblivious\"\n";
  const std::string loss =
      "[[faults]]\nkind = \"impairment\"\nlink = \"leaf0-spine1\"\nloss = 0.01\nreordering = 0.1\n"
      "reorder_delay = \"20us\"\n";
  const std::string fsdp =
      "[traffic]\ntype = \"fsdp\"\nranks = 8\nunits = 2\nweights = \"1MB\"\ngradients = \"1MB\"\n"
      "forward = \"50us\"\nbackward = \"100us\"\nsteps = 2\njitter = 0.1\n";
  for (const std::string& traffic :
       {Collective("ranks = 8\nsize = \"1MB\"\nskew = \"100us\"\niterations = 2\n"),
        Collective(
            "ranks = 8\nsize = \"1MB\"\nadmission = \"cts\"\nwindow = 1\nranks_per_node = 2\n"),
        Collective("collective = \"alltoall\"\nranks = 8\nsize = \"2MB\"\nqps = 2\nsplit = true\n"),
        Collective("ranks = 8\nsize = \"3MB\"\nadmission = \"segments\"\nsegment = \"128KiB\"\n"
                   "outstanding = 1\n"),
        fsdp}) {
    const Experiment e = Parse(kFabric + traffic + loss + arms);
    for (size_t arm = 0; arm < e.arms.size(); ++arm) {
      SCOPED_TRACE(traffic + e.arms[arm].name);
      const RunResult r = RunOf(e, arm);
      ASSERT_FALSE(r.operations.empty());
      for (const OperationResult& o : r.operations) {
        ASSERT_EQ(o.breakdown.size(), kTimeParts);
        EXPECT_EQ(Sum(o.breakdown), o.end - o.first_arrival);
      }
      for (const StepResult& s : r.jobs.at(0).steps) EXPECT_EQ(Sum(s.breakdown), s.time);
    }
  }
}

TEST(BreakdownTest, LookingChangesNothing) {
  const std::string text = kFabric + Collective("ranks = 8\nsize = \"1MB\"\n") +
                           "[[arms]]\ncc = \"nscc\"\nlb = \"reps\"\n";
  const RunResult asked = RunOf(Parse(text));
  const Experiment unasked = *ParseExperiment(text, "test", {});
  EXPECT_EQ(asked.digest, RunOf(unasked).digest);
  EXPECT_TRUE(RunOf(unasked).operations[0].breakdown.empty());
}

TEST(BreakdownTest, AnIdleNetworkSerialisesAndPropagates) {
  const RunResult r =
      RunOf(Parse(kFabric +
                  Collective("collective = \"broadcast\"\nranks = 2\nsize = \"1MB\"\n"
                             "protocol = \"whole\"\n") +
                  kPlain + "cc_params = { window = \"8MB\" }\n"));
  // 1 MB at 100 Gb/s take 82 us with headers, of which the last packet's are its own passage.
  EXPECT_GT(Share(r, TimePart::kSerialisation), 0.9);
  EXPECT_LT(Share(r, TimePart::kQueueing),
            0.05);  // behind the packet before it, on the host's link
  EXPECT_EQ(Share(r, TimePart::kPeers), 0);
  EXPECT_EQ(Share(r, TimePart::kCredit), 0);
  EXPECT_EQ(Share(r, TimePart::kRecovery), 0);
}

TEST(BreakdownTest, AHeldBackSenderIsSaidToBe) {
  const RunResult r =
      RunOf(Parse(kFabric + Collective("collective = \"broadcast\"\nranks = 2\nsize = \"1MB\"\n") +
                  kPlain + "cc_params = { rate = \"10Gbps\" }\n"));
  EXPECT_NEAR(Share(r, TimePart::kWindow), 0.9, 0.03);
}

TEST(BreakdownTest, WaitingForALateRankIsForPeers) {
  const RunResult r =
      RunOf(Parse(kFabric + Collective("ranks = 2\nsize = \"64KiB\"\nskew = \"5ms\"\n") + kPlain));
  const OperationResult& o = r.operations[0];
  EXPECT_EQ(o.breakdown[static_cast<size_t>(TimePart::kPeers)], o.last_arrival - o.first_arrival);
  EXPECT_GT(Share(r, TimePart::kPeers), 0.9);
}

TEST(BreakdownTest, AnIncastQueuesOrWaitsForCredit) {
  const std::string incast = Collective(
      "collective = \"gather\"\nalgorithm = \"direct\"\nranks = 8\nsize = \"8MB\"\n"
      "protocol = \"whole\"\n");
  const std::string deep = "queue_limit = \"100MB\"\nmarking = false\n";
  const RunResult queued =
      RunOf(Parse(kFabric + deep + incast + kPlain + "cc_params = { window = \"8MB\" }\n"));
  EXPECT_GT(Share(queued, TimePart::kQueueing), 0.7);
  EXPECT_EQ(Share(queued, TimePart::kCredit), 0);
  const RunResult granted =
      RunOf(Parse(kFabric + incast + "[[arms]]\ncc = \"rccc\"\nlb = \"oblivious\"\n"));
  EXPECT_GT(Share(granted, TimePart::kCredit), 0.6);
  EXPECT_LT(Share(granted, TimePart::kQueueing), 0.2);
}

TEST(BreakdownTest, ClearToSendIsCountedWhereItIs) {
  const std::string alltoall = "collective = \"alltoall\"\nranks = 8\nsize = \"512KiB\"\n";
  EXPECT_EQ(Share(RunOf(Parse(kFabric + Collective(alltoall) + kPlain)), TimePart::kClearToSend),
            0);
  EXPECT_GT(Share(RunOf(Parse(kFabric + Collective(alltoall + "admission = \"cts\"\n") + kPlain)),
                  TimePart::kClearToSend),
            0.01);
}

TEST(BreakdownTest, WhatIsLostIsRecovered) {
  const RunResult r = RunOf(Parse(
      kFabric + Collective("collective = \"broadcast\"\nranks = 2\nsize = \"4kB\"\n") +
      "[[faults]]\nkind = \"link_down\"\nlink = \"host1-leaf0\"\nfor = \"200us\"\n" + kPlain));
  EXPECT_GT(Share(r, TimePart::kRecovery), 0.8);
}

TEST(BreakdownTest, TheReportHasATable) {
  const Experiment e = Parse(kFabric + Collective("ranks = 8\nsize = \"1MB\"\n") + kPlain);
  const std::string report = OperationTable(RunOf(e));
  EXPECT_THAT(report, HasSubstr("where time goes"));
  EXPECT_THAT(report, HasSubstr("serialisation"));
  EXPECT_THAT(report, testing::Not(HasSubstr("clear_to_send")));  // there is none
  const std::vector<RunResult> results{RunOf(e)};
  EXPECT_THAT(HtmlReport(e, results, nullptr), HasSubstr("Where the time goes"));
}

TEST(BreakdownTest, WhatHasNothingToTakeApartIsRefused) {
  const auto error = [](const std::string& text, const std::vector<std::string>& sets) {
    return std::string(ParseExperiment(text, "test", sets).status().message());
  };
  EXPECT_THAT(error(kFabric + kPlain, {"run.breakdown=true"}), HasSubstr("this traffic has none"));
  EXPECT_THAT(error(kFabric + Collective("") + kPlain, {"run.breakdown=true", "run.home=loopback"}),
              HasSubstr("is for virtual time"));
}

}  // namespace
}  // namespace weir
