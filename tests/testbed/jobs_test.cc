// Jobs: from TOML to results in the words of those who run them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "testbed/experiment/experiment.h"
#include "testbed/experiment/measure_operations.h"
#include "testbed/experiment/runner.h"

namespace weir {
namespace {

using testing::HasSubstr;

constexpr const char* kFabric =
    "[fabric]\ntopology = \"leaf_spine\"\nleaves = 4\nhosts_per_leaf = 4\nspines = 4\n"
    "rate = \"100Gbps\"\n";
constexpr const char* kArm = "[[arms]]\ncc = \"nscc\"\nlb = \"reps\"\n";

absl::StatusOr<Experiment> Parse(const std::string& traffic, const std::string& more = {}) {
  return ParseExperiment(kFabric + traffic + "\n" + kArm + more, "test.toml", {});
}
std::string WhyNot(const std::string& traffic) {
  return std::string(Parse(traffic).status().message());
}
RunResult RunTraffic(const std::string& traffic, uint64_t seed = 1) {
  const absl::StatusOr<Experiment> e = Parse(traffic);
  EXPECT_TRUE(e.ok()) << e.status();
  if (!e.ok()) return {};
  RunResult result = RunArm(*e, e->arms[0], seed);
  EXPECT_TRUE(result.finished) << traffic;
  EXPECT_TRUE(result.breaches.empty());
  return result;
}

// --- Collectives against their closed forms ---

struct Bound {
  const char* collective;
  const char* algorithm;
  const char* size;
  double most;  // of measured over ideal
};
std::string NameOf(const testing::TestParamInfo<Bound>& info) {
  return std::string(info.param.collective) + "_" + info.param.algorithm;
}
class CollectiveOnAnIdleFabric : public testing::TestWithParam<Bound> {};

// The bounds are stated in docs/traffic.md.
TEST_P(CollectiveOnAnIdleFabric, TakesItsIdealTime) {
  const Bound& b = GetParam();
  const RunResult r =
      RunTraffic(std::string("[traffic]\ntype = \"collective\"\nranks = 16\n") + "collective = \"" +
                 b.collective + "\"\nalgorithm = \"" + b.algorithm + "\"\nsize = \"" + b.size +
                 "\"\nprotocol = \"simple\"\n");
  ASSERT_EQ(r.operations.size(), 1u);
  const OperationResult& o = r.operations[0];
  ASSERT_TRUE(o.finished());
  const double ratio = Ratio(o.end - o.first_arrival, o.ideal);
  EXPECT_GT(ratio, 0.97);
  EXPECT_LT(ratio, b.most);
}
INSTANTIATE_TEST_SUITE_P(
    Collectives, CollectiveOnAnIdleFabric,
    testing::Values(
        Bound{"all_reduce", "ring", "16MiB", 1.03}, Bound{"all_gather", "ring", "16MiB", 1.03},
        Bound{"reduce_scatter", "ring", "16MiB", 1.03},
        Bound{"all_reduce", "halving_doubling", "16MiB", 1.05},
        Bound{"all_gather", "pat", "16MiB", 1.05}, Bound{"reduce_scatter", "pat", "16MiB", 1.05},
        Bound{"all_reduce", "tree", "16MiB", 1.35}, Bound{"alltoall", "shifted", "16MiB", 1.15},
        Bound{"alltoall", "direct", "16MiB", 1.15}, Bound{"broadcast", "ring", "16MiB", 1.05},
        Bound{"broadcast", "binomial", "4MiB", 1.45}, Bound{"reduce", "binomial", "4MiB", 1.45},
        Bound{"gather", "direct", "16MiB", 1.05}, Bound{"scatter", "direct", "16MiB", 1.05}),
    NameOf);

TEST(Jobs, RingAllReduceOver128RanksIsWithinThreePercentOfTheClosedForm) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "takes a minute with sanitizers";
#endif
  const absl::StatusOr<Experiment> e =
      ParseExperiment(std::string("[fabric]\ntopology = \"leaf_spine\"\nrate = \"400Gbps\"\n") +
                          "[traffic]\ntype = \"collective\"\nalgorithm = \"ring\"\nranks = "
                          "128\nsize = \"64MiB\"\n" +
                          "protocol = \"simple\"\n" + kArm,
                      "test.toml", {});
  ASSERT_TRUE(e.ok()) << e.status();
  const RunResult r = RunArm(*e, e->arms[0], 1);
  ASSERT_TRUE(r.finished);
  const OperationResult& o = r.operations[0];
  EXPECT_NEAR(Ratio(o.end - o.first_arrival, o.ideal), 1, 0.03);
}

// --- How messages travel ---

TEST(Jobs, QueuePairsAreConnections) {
  const std::string ring =
      "[traffic]\ntype = \"collective\"\nranks = 4\nsize = \"1MiB\"\nalgorithm = \"ring\"\n";
  const auto connections = [&](const std::string& more) {
    const absl::StatusOr<Experiment> e = Parse(ring + more);
    EXPECT_TRUE(e.ok()) << e.status();
    return MakeTraffic(*e, 1)->connections.size();
  };
  EXPECT_EQ(connections(""), 4u);
  EXPECT_EQ(connections("qps = 3\n"), 12u);
  EXPECT_EQ(connections("channels = 2\n"), 8u);
  EXPECT_EQ(connections("admission = \"cts\"\n"), 8u);  // and back, for the clearances
}

TEST(Jobs, SplitMessagesGoOverAllQueuePairs) {
  const absl::StatusOr<Experiment> e = Parse(
      "[traffic]\ntype = \"collective\"\ncollective = \"gather\"\nranks = 2\nsize = \"2MiB\"\n"
      "qps = 4\nsplit = true\nprotocol = \"whole\"\n");
  ASSERT_TRUE(e.ok()) << e.status();
  const absl::StatusOr<Traffic> traffic = MakeTraffic(*e, 1);
  ASSERT_EQ(traffic->transfers.size(), 4u);
  std::set<uint32_t> used;
  for (const Transfer& t : traffic->transfers) {
    used.insert(t.connection);
    EXPECT_EQ(t.size, KiB(256));
  }
  EXPECT_EQ(used.size(), 4u);
}

TEST(Jobs, ClearToSendHoldsASenderUntilItsReceiverHasCome) {
  // Rank 1 comes to the gather last; with clear-to-send nothing leaves before that.
  const std::string late =
      "[traffic]\ntype = \"collective\"\ncollective = \"all_gather\"\nalgorithm = \"ring\"\n"
      "ranks = 2\nsize = \"64KiB\"\nskew = \"5ms\"\n";
  const auto first_start_after_arrival = [&](const std::string& more) {
    const RunResult r = RunTraffic(late + more);
    Duration first = Duration::Max();
    for (const TransferResult& t : r.transfers) {
      if (t.size > Bytes(64)) first = std::min(first, t.start);
    }
    return first - r.operations[0].last_arrival;
  };
  EXPECT_LT(first_start_after_arrival(""), Duration(0));
  EXPECT_GE(first_start_after_arrival("admission = \"cts\"\n"), Duration(0));
}

// Small clearances that queue behind data come later than those with a class of their own.
TEST(Jobs, ClearToSendOvertakesDataInTheControlClass) {
  const auto mean_of_clearances = [](const std::string& cts_class) {
    const RunResult r = RunTraffic(
        "[traffic]\ntype = \"collective\"\ncollective = \"alltoall\"\nranks = 16\n"
        "size = \"4MiB\"\nadmission = \"cts\"\nwindow = 1\ncts_class = \"" +
        cts_class + "\"\n");
    Duration sum{};
    int64_t count = 0;
    for (const TransferResult& t : r.transfers) {
      if (t.size != Bytes(64)) continue;
      sum += t.received - t.start;
      ++count;
    }
    EXPECT_GT(count, 0);
    return sum / std::max<int64_t>(1, count);
  };
  // 4.9 us and 7.1 us
  EXPECT_LT(mean_of_clearances("control") * 4, mean_of_clearances("data") * 3);
}

TEST(Jobs, SegmentsLimitWhatAQueuePairHasUnacknowledged) {
  const RunResult r = RunTraffic(
      "[traffic]\ntype = \"collective\"\ncollective = \"gather\"\nranks = 2\nsize = \"2MiB\"\n"
      "admission = \"segments\"\nsegment = \"128KiB\"\noutstanding = 2\nprotocol = \"whole\"\n");
  ASSERT_EQ(r.transfers.size(), 8u);
  for (size_t i = 2; i < r.transfers.size(); ++i) {
    EXPECT_GE(r.transfers[i].start, r.transfers[i - 2].sent);
  }
}

// --- NICs of several speeds ---

// Two NICs a rank: 400 and 400, 400 and 100, 100 and 100 Gb/s. Half of the bytes take each, so that
// the slow one decides; what could be had at best is the sum of both.
TEST(Jobs, ASlowNicOfARankSlowsItsCollectives) {
  const auto run = [](const std::string& rates) {
    const absl::StatusOr<Experiment> e = ParseExperiment(
        "[fabric]\ntopology = \"rail_optimised\"\ngroups = 1\nnodes_per_group = 4\nrails = 2\n"
        "spines = 2\nrate = \"400Gbps\"\nnic_rates = " +
            rates +
            "\n[traffic]\ntype = \"collective\"\ncollective = \"all_gather\"\n"
            "algorithm = \"ring\"\nranks = 4\nnics = 2\nsize = \"64MiB\"\n" +
            kArm,
        "test.toml", {});
    EXPECT_TRUE(e.ok()) << e.status();
    if (!e.ok()) return OperationResult{};
    const RunResult r = RunArm(*e, e->arms[0], 1);
    EXPECT_TRUE(r.finished);
    return r.operations.at(0);
  };
  const auto time = [](const OperationResult& o) { return o.end - o.first_arrival; };
  const OperationResult fast = run("[\"400Gbps\"]");
  const OperationResult mixed = run("[\"400Gbps\", \"100Gbps\"]");
  const OperationResult slow = run("[\"100Gbps\"]");
  EXPECT_GT(time(mixed), 3 * time(fast));
  EXPECT_LT(time(mixed), Scaled(time(slow), 1.05));
  EXPECT_GT(mixed.ideal, fast.ideal);
  EXPECT_LT(Scaled(mixed.ideal, 2.2), slow.ideal);
  EXPECT_THAT(std::string(ParseExperiment(std::string("[fabric]\nnic_rates = [\"fast\"]\n") + kArm,
                                          "test.toml", {})
                              .status()
                              .message()),
              testing::HasSubstr("nic_rates: has something that is no rate"));
}

// --- Time ---

TEST(Jobs, AStragglerIsNamed) {
  const RunResult r = RunTraffic(
      "[traffic]\ntype = \"ddp\"\nranks = 16\ncompute = \"2ms\"\nbuckets = [\"1MiB\", \"1MiB\"]\n"
      "steps = 3\nslow_probability = 0.06\nslow_factor = 1.5\njitter = 0.01\n",
      2);
  ASSERT_EQ(r.jobs.size(), 1u);
  ASSERT_EQ(r.jobs[0].slow_ranks.size(), 1u);
  EXPECT_GT(r.jobs[0].slow_ranks[0].lateness, Micros(100));
}

TEST(Jobs, WithoutAStragglerNobodyIsNamed) {
  const RunResult r = RunTraffic(
      "[traffic]\ntype = \"ddp\"\nranks = 16\ncompute = \"2ms\"\nbuckets = [\"1MiB\", \"1MiB\"]\n"
      "steps = 3\njitter = 0.01\n");
  EXPECT_TRUE(r.jobs[0].slow_ranks.empty());
}

TEST(Jobs, StepsAddUpToComputeAndExposedCommunication) {
  const RunResult r = RunTraffic(
      "[traffic]\ntype = \"ddp\"\nranks = 8\ncompute = \"1ms\"\nbuckets = [\"2MiB\", \"8MiB\"]\n"
      "steps = 2\n");
  ASSERT_EQ(r.jobs[0].steps.size(), 2u);
  for (const StepResult& s : r.jobs[0].steps) {
    EXPECT_NEAR(static_cast<double>(s.compute.count()), 1e6, 10);
    EXPECT_EQ(s.time, s.compute + s.exposed);
    // The last bucket of 8 MiB is all exposed: 2 x 7/8 x 8 MiB at 100 Gb/s.
    EXPECT_GT(s.exposed, Micros(1100));
    EXPECT_LT(s.exposed, Micros(1600));
  }
}

TEST(Jobs, EveryTemplateRuns) {
  for (const std::string traffic :
       {"type = \"fsdp\"\nranks = 8\nunits = 3\nweights = \"1MB\"\ngradients = \"1MB\"\n"
        "forward = \"50us\"\nbackward = \"100us\"\nreplicas = 2\n",
        "type = \"fsdp\"\nranks = 8\nunits = 3\nweights = \"1MB\"\ngradients = \"1MB\"\n"
        "forward = \"50us\"\nbackward = \"100us\"\nzero = 2\n",
        "type = \"transformer\"\ntensor = 2\ndata = 2\npipeline = 4\nexpert = 4\nlayers = 1\n"
        "micro_batches = 4\nactivation = \"100kB\"\ndispatch = \"100kB\"\ncombine = \"100kB\"\n"
        "gradients = \"1MB\"\nlayer_forward = \"20us\"\nranks_per_node = 2\n",
        "type = \"dlrm\"\nranks = 8\nindices = \"100kB\"\nembeddings = \"1MB\"\ndense = \"1MB\"\n"
        "compute = \"1ms\"\n",
        "type = \"checkpoint\"\nclients = 8\nservers = 2\nshard = \"2MB\"\nstripe = \"256KiB\"\n"
        "spread = \"10us\"\njitter = 0.1\n",
        "type = \"checkpoint\"\nclients = 8\nservers = 2\nshard = \"2MB\"\nrestore = true\n",
        "type = \"decode\"\nranks = 4\nlayers = 2\ntokens = 2\nlayer = \"10us\"\n"}) {
    const RunResult r = RunTraffic("[traffic]\n" + traffic);
    EXPECT_FALSE(r.operations.empty()) << traffic;
    for (const OperationResult& o : r.operations) EXPECT_TRUE(o.finished()) << traffic;
  }
}

TEST(Jobs, SeveralJobsShareAFabricAndSomeShareHosts) {
  const absl::StatusOr<Experiment> e = Parse(
      "[[jobs]]\nname = \"train\"\ntype = \"collective\"\nranks = 8\nsize = \"1MB\"\n"
      "[[jobs]]\nname = \"save\"\ntype = \"checkpoint\"\nclients = 8\nservers = 2\n"
      "shard = \"1MB\"\nshare = \"train\"\nstart = \"10us\"\n");
  ASSERT_TRUE(e.ok()) << e.status();
  const absl::StatusOr<Traffic> traffic = MakeTraffic(*e, 1);
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  ASSERT_EQ(traffic->jobs.size(), 2u);
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(traffic->jobs[0].hosts[i], traffic->jobs[1].hosts[i]);
  EXPECT_EQ(traffic->jobs[1].hosts[8], 8u);
  EXPECT_TRUE(RunArm(*e, e->arms[0], 1).finished);
}

TEST(Jobs, RanksWithANicInEachPlaneUseThemAllAndNeverCross) {
  const absl::StatusOr<Experiment> e = ParseExperiment(
      std::string("[fabric]\ntopology = \"multi_plane\"\ngroups = 2\nnodes_per_group = 4\n"
                  "planes = 4\nspines = 2\nrate = \"100Gbps\"\n"
                  "[traffic]\ntype = \"collective\"\nranks = 8\nnics = 4\nsize = \"4MiB\"\n"
                  "algorithm = \"ring\"\nprotocol = \"simple\"\n") +
          kArm,
      "test.toml", {});
  ASSERT_TRUE(e.ok()) << e.status();
  const RunResult r = RunArm(*e, e->arms[0], 1);
  ASSERT_TRUE(r.finished);
  std::set<uint32_t> used;
  for (const TransferResult& t : r.transfers) {
    EXPECT_EQ(t.from % 4, t.to % 4) << "there is no way between planes";
    used.insert(t.from % 4);
  }
  EXPECT_EQ(used.size(), 4u);
}

TEST(Jobs, FragmentationMovesSomeNodesAndKeepsTheRest) {
  const absl::StatusOr<Experiment> e = Parse(
      "[traffic]\ntype = \"collective\"\nranks = 8\nranks_per_node = 2\nsize = \"1MB\"\n"
      "fragmentation = 0.5\n");
  ASSERT_TRUE(e.ok()) << e.status();
  bool moved = false;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const std::vector<uint32_t> hosts = MakeTraffic(*e, seed)->jobs[0].hosts;
    EXPECT_EQ(std::set<uint32_t>(hosts.begin(), hosts.end()).size(), 8u);
    for (size_t i = 0; i < 8; i += 2) EXPECT_EQ(hosts[i] + 1, hosts[i + 1]) << "a node is whole";
    moved = moved || hosts[0] != 0 || hosts[7] != 7;
  }
  EXPECT_TRUE(moved);
}

// --- What is wrong is said ---

TEST(Jobs, ErrorsNameTheKeyAndTheRemedy) {
  EXPECT_THAT(WhyNot("[traffic]\ntype = \"collective\"\nranks = 64\nsize = \"1MB\"\n"),
              HasSubstr("64 NICs need 64 nodes of 1 hosts, and 16 are free"));
  EXPECT_THAT(WhyNot("[traffic]\ntype = \"collective\"\nranks = 12\nsize = \"1MB\"\n"
                     "algorithm = \"halving_doubling\"\n"),
              HasSubstr("needs a power of two ranks, not 12"));
  EXPECT_THAT(WhyNot("[traffic]\ntype = \"collective\"\nsize = \"-1MB\"\n"), HasSubstr("size"));
  EXPECT_THAT(WhyNot("[traffic]\ntype = \"colective\"\n"), HasSubstr("collective"));
  EXPECT_THAT(WhyNot("[traffic]\ntype = \"collective\"\nroot = 1\n"), HasSubstr("root"));
  EXPECT_THAT(WhyNot("[traffic]\ntype = \"collective\"\nsplit = true\n"), HasSubstr("split"));
  EXPECT_THAT(WhyNot("[traffic]\ntype = \"collective\"\nconcurrent_peers = 2\n"),
              HasSubstr("concurrent_peers"));
  EXPECT_THAT(WhyNot("[traffic]\ntype = \"import\"\n"), HasSubstr("file: is missing"));
  EXPECT_THAT(WhyNot("[[jobs]]\nsize = \"1MB\"\n"), HasSubstr("type: is missing"));
  EXPECT_THAT(WhyNot("[traffic]\ntype = \"fsdp\"\nranks = 6\nreplicas = 4\n"),
              HasSubstr("it must divide ranks, 6"));
  EXPECT_THAT(WhyNot("[[jobs]]\ntype = \"ddp\"\nranks = 4\nshare = \"nobody\"\n"),
              HasSubstr("there is no job of that name"));
}

// --- nccl-tests ---

// A reader of nccl-tests' output as its users write them: lines that begin with a number.
std::vector<std::vector<double>> ParseNcclTests(const std::string& text) {
  std::vector<std::vector<double>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    double size, count, root, time, alg, bus, wrong, in_time, in_alg, in_bus, in_wrong;
    std::string type, operation;
    words >> size >> count >> type >> operation >> root >> time >> alg >> bus >> wrong >> in_time >>
        in_alg >> in_bus >> in_wrong;
    EXPECT_TRUE(words) << line;
    rows.push_back({size, count, time, alg, bus});
  }
  return rows;
}

// Lines of its documentation (doc/PERFORMANCE.md explains the columns), as a reader meets them.
TEST(NcclTests, TheParserReadsTheirOutputAndOurs) {
  const std::string theirs =
      "# nThread 1 nGpus 8 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: "
      "20\n"
      "#\n"
      "#       size         count      type   redop    root     time   algbw   busbw #wrong     "
      "time   algbw   busbw #wrong\n"
      "     1048576        262144     float     sum      -1    100.0   10.49   18.35      0    "
      "101.0   10.38   18.17      0\n";
  ASSERT_EQ(ParseNcclTests(theirs).size(), 1u);

  const RunResult r = RunTraffic(
      "[traffic]\ntype = \"collective\"\ncollective = \"all_gather\"\nranks = 8\n"
      "size = [\"1MiB\", \"2MiB\"]\niterations = 2\nwarmup = 1\n");
  const std::vector<std::vector<double>> rows = ParseNcclTests(NcclTestsText(r.operations));
  ASSERT_EQ(rows.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const double size = rows[i][0];
    EXPECT_EQ(size, static_cast<double>((i + 1) << 20));
    EXPECT_EQ(rows[i][1], size / 4 / 8);
    EXPECT_NEAR(rows[i][3], size / rows[i][2] * 1e-3, 0.02);  // GB/s of S over t
    EXPECT_NEAR(rows[i][4], rows[i][3] * 7 / 8, 0.02);        // (n-1)/n
  }
}

}  // namespace
}  // namespace weir
