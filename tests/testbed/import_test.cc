// Importers on the real files, and on damaged copies of them.
#include "testbed/traffic/import/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>

#include "datapath/api/rng.h"
#include "testbed/traffic/import/file_set.h"
#include "tests/support/temp_folder.h"
#include "tests/support/workload_check.h"

namespace weir {
namespace {

using testing::HasSubstr;

const std::string kData = WEIR_SOURCE_DIR "/testbed/data/";

Workload Import(const std::string& file, const ImportOptions& options = {}) {
  absl::StatusOr<Workload> workload = ImportWorkload(kData + file, "auto", options);
  EXPECT_TRUE(workload.ok()) << workload.status();
  return workload.ok() ? *std::move(workload) : Workload{};
}
std::string WhyNot(const std::string& file, const ImportOptions& options = {}) {
  return std::string(ImportWorkload(kData + file, "auto", options).status().message());
}

std::map<std::string, int> CallsByKind(const Workload& w) {
  std::map<std::string, int> calls;
  for (const CollectiveCall& c : w.calls) ++calls[Name(c.kind)];
  return calls;
}
void ExpectSound(const Workload& w) { EXPECT_EQ(Unsound(w), ""); }

TEST(Import, GoalBinomialBroadcast) {
  const Workload w = Import("goal/binary_tree_32.goal");
  EXPECT_EQ(w.ranks, 32u);
  EXPECT_EQ(w.ops.size(), 62u);  // 31 sends and their receives
  ExpectSound(w);
}

TEST(Import, ChakraRingAllReduce) {
  const Workload w = Import("chakra/astra_custom_ring_allreduce_8npus_1MB.tar.gz");
  EXPECT_EQ(w.ranks, 8u);
  int sends = 0;
  for (const WorkOp& op : w.ops) {
    if (op.kind == WorkOp::Kind::kSend) {
      ++sends;
      EXPECT_EQ(op.size, KiB(128));
      EXPECT_EQ(op.peer, (op.rank + 1) % 8);
    }
  }
  EXPECT_EQ(sends, 8 * 14);  // 2 (n - 1) steps
  ExpectSound(w);
}

TEST(Import, PytorchExecutionTracesHaveTheSkewOfTheirSplits) {
  const Workload w = Import("param/dlrm_pytorch_et_8rank.tar.gz");
  EXPECT_EQ(w.ranks, 8u);
  EXPECT_THAT(CallsByKind(w), testing::UnorderedElementsAre(testing::Pair("alltoall", 5),
                                                            testing::Pair("all_reduce", 3)));
  // Rank 3 receives 49 % of the bytes of one of them.
  double most = 0;
  for (const CollectiveCall& c : w.calls) {
    std::vector<double> received(8);
    double total = 0;
    for (size_t i = 0; i < c.matrix.size(); ++i) {
      const double bytes = static_cast<double>(c.matrix[i].count());
      received[i % 8] += bytes;
      total += bytes;
    }
    if (total > 0) most = std::max(most, received[3] / total);
  }
  EXPECT_NEAR(most, 0.49, 0.03);  // without what a rank keeps
  ExpectSound(w);
}

TEST(Import, ChakraPytorchTraceOfOneRankIsRepeatedForTheOther) {
  const Workload w = Import("chakra/pytorch_et_1.0.2-chakra.0.0.4.tgz");
  EXPECT_EQ(w.ranks, 2u);
  EXPECT_EQ(CallsByKind(w)["all_gather"], 10);
  EXPECT_THAT(w.unused, testing::Contains(HasSubstr("rank without a trace")));
}

TEST(Import, KinetoStartsWithItsKernels) {
  const Workload w = Import("param/dlrm_kineto_8rank.tar.gz");
  EXPECT_EQ(w.ranks, 8u);
  EXPECT_THAT(CallsByKind(w), testing::UnorderedElementsAre(testing::Pair("alltoall", 5),
                                                            testing::Pair("all_reduce", 3)));
  // Ranks come to the first collective over a span of some milliseconds.
  Duration first = Duration::Max(), last{};
  for (const WorkOp& op : w.ops) {
    if (op.kind != WorkOp::Kind::kCollective || op.call != 0) continue;
    first = std::min(first, op.earliest);
    last = std::max(last, op.earliest);
  }
  EXPECT_GT(last - first, Micros(100));
  EXPECT_LT(last - first, Millis(20));
}

TEST(Import, AKinetoTraceOfOneOf128Ranks) {
  const Workload w = Import("hta/sampled_rank-0_world128.json.gz");
  EXPECT_EQ(w.ranks, 128u);
  EXPECT_EQ(w.calls.size(), 10u);
}

TEST(Import, SampledTracesOfDifferentStepsAreRefused) {
  EXPECT_THAT(WhyNot("hta/*.gz"), HasSubstr("the traces are not of one step"));
}

TEST(Import, ParamTraces) {
  const Workload w = Import("derived/dlrm_param_basic_rank*.json");
  EXPECT_EQ(w.ranks, 8u);
  EXPECT_EQ(w.calls.size(), 8u);
  const Workload one = Import("derived/resnet50_ddp_param_basic_rank1of2.json");
  EXPECT_EQ(one.ranks, 2u);
  std::vector<int64_t> buckets;
  for (const CollectiveCall& c : one.calls) {
    if (c.kind == CollectiveKind::kAllReduce) buckets.push_back(c.size.count());
  }
  ASSERT_EQ(buckets.size(), 15u);
  EXPECT_EQ(buckets[0], 2'049'000 * 4);
}

TEST(Import, Aicb) {
  const Workload gpt = Import("aicb/G13B-M1-C01_GPT13B_megatron_tp8_pp1_mbs1.csv");
  EXPECT_EQ(gpt.ranks, 128u);
  EXPECT_EQ(CallsByKind(gpt)["all_reduce"] % 8, 0);
  Import("aicb/G13B-M1-C02_GPT13B_megatron_tp8_pp1_mbs1_sp.csv");
  Import("aicb/L7B-D1-C01_Llama7B_zero2_mbs1.csv");
  const Workload zero3 = Import("aicb/L7B-D1-C02_Llama7B_zero3_mbs1.csv.gz");
  EXPECT_EQ(CallsByKind(zero3)["all_gather"], 3 * 291 + 65);
  EXPECT_EQ(CallsByKind(zero3)["reduce_scatter"], 6 + 1);
  ExpectSound(zero3);
}

TEST(Import, ATableOfModelsIsNoWorkload) {
  EXPECT_THAT(WhyNot("aicb/Workload_spec_v1.1.csv"), HasSubstr("looks like none of the formats"));
}

TEST(Import, Simai) {
  const Workload micro = Import("simai/microAllReduce.txt");
  EXPECT_EQ(micro.ranks, 8u);
  EXPECT_EQ(micro.calls.size(), 2u);
  EXPECT_EQ(Import("simai/all_reduce.txt", {.ranks = 16}).calls.size(), 19u);
  EXPECT_EQ(Import("simai/all_gather.txt", {.ranks = 16}).calls.size(), 19u);
  EXPECT_EQ(Import("simai/all_to_all.txt", {.ranks = 16}).calls.size(), 19u);
  Import("simai/muti_all_reduce.txt", {.ranks = 16});
  Import("simai/G13B-M1-C01_GPT13B_megatron_tp8_pp1_mbs1_A100.txt", {.ranks = 16});
  Import("simai/G13B-M1-C02_GPT13B_megatron_tp8_pp1_mbs1_sp_A100.txt", {.ranks = 16});
  Import("simai/G175B-M1-C03_GPT175B_megatron_tp8_pp1_mbs1_A100.txt", {.ranks = 16});
  Import("simai/L65B_D1_C08_Llama65B_deepspeed_zero3_A100.txt", {.ranks = 16});
  const Workload moe = Import("simai/workload_analytical_9216gpu_moe.txt.gz", {.ranks = 32});
  EXPECT_GT(CallsByKind(moe)["alltoall"], 1000);
  ExpectSound(moe);
}

TEST(Import, OptionsThatChangeNothingAreRefused) {
  EXPECT_THAT(WhyNot("goal/binary_tree_32.goal", {.ranks = 4}), HasSubstr("ranks has no effect"));
  EXPECT_THAT(WhyNot("derived/dlrm_param_basic_rank0.json", {.micro_batches = 4}),
              HasSubstr("micro_batches and tick have no effect on param"));
}

TEST(Import, SimaiNeedsToKnowItsRanks) {
  EXPECT_THAT(WhyNot("simai/all_reduce.txt"), HasSubstr("set `ranks`"));
}

TEST(Import, Requests) {
  const absl::StatusOr<RequestTrace> code =
      ImportRequests(kData + "inference/AzureLLMInferenceTrace_code.csv.gz");
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(code->requests.size(), 8819u);
  double tokens = 0;
  for (const Request& r : code->requests) tokens += r.context;
  EXPECT_NEAR(tokens / 8819, 2048, 1);
  const absl::StatusOr<RequestTrace> conversation =
      ImportRequests(kData + "inference/AzureLLMInferenceTrace_conv.csv.gz");
  ASSERT_TRUE(conversation.ok()) << conversation.status();
  EXPECT_EQ(conversation->requests.size(), 19366u);
  const absl::StatusOr<RequestTrace> mooncake =
      ImportRequests(kData + "inference/mooncake_conversation_trace_first1500.jsonl.gz");
  ASSERT_TRUE(mooncake.ok()) << mooncake.status();
  EXPECT_EQ(mooncake->requests.size(), 1500u);
  EXPECT_EQ(mooncake->requests[0].cached, 0u);
  EXPECT_EQ(mooncake->requests[1].cached, 512u);  // block 0 again
}

std::string WhyNotText(const std::string& name, const std::string& text) {
  const TempFolder folder;
  const std::string file = folder.Write(name, text);
  return std::string(ImportWorkload(file, "auto", {}).status().message());
}

TEST(Import, ErrorsNameTheLineAndTheRemedy) {
  EXPECT_THAT(WhyNotText("x.goal", "num_ranks 2\nrank 0 {\nl1: send 5b to 7\n}\n"),
              HasSubstr(".goal:3: write to and another rank below num_ranks"));
  EXPECT_THAT(WhyNotText("y.goal", "num_ranks 2\nrank 0 {\nl1: calc 5\n"),
              HasSubstr("a } is missing"));
  EXPECT_THAT(WhyNotText("z.goal",
                         "num_ranks 2\nrank 0 {\nl1: calc 5\nl2: calc 5\nl1 requires l2\nl2 "
                         "requires l1\n}\nrank 1 {\n}\n"),
              HasSubstr("wait for each other in a circle"));
  EXPECT_THAT(WhyNotText("a.csv",
                         "[rank0 ~ rank3]\ncomm_type,comm_group,comm_group_size,msg_size\n"
                         "CommType.all_reduce,CommGroup.tp_group,3,64\n"),
              HasSubstr("a.csv:3: 4 ranks do not divide into groups of 3"));
  EXPECT_THAT(
      WhyNotText("s.txt", "MICRO model_parallel_NPU_group: 4 all_gpus: 4\n1\na -1 1 NONE\n"),
      HasSubstr("s.txt:3: has 4 words; a layer has 12"));
  EXPECT_THAT(WhyNotText("k.json", "{\"schemaVersion\": 1, \"traceEvents\": [ {"),
              HasSubstr("or damaged"));
  EXPECT_THAT(std::string(ImportWorkload("/nowhere/x.et", "auto", {}).status().message()),
              HasSubstr("no such file"));
}

// Any damage ends in an import or in an error; never in a crash, and never in an unsound workload.
bool TakesRanks(const std::string& file) {
  return file.rfind("goal", 0) != 0 && file.rfind("chakra/astra", 0) != 0;
}
class Damaged : public testing::TestWithParam<const char*> {};

TEST_P(Damaged, FilesDoNoHarm) {
  const absl::StatusOr<std::vector<NamedText>> files = ReadFileSet(kData + GetParam());
  ASSERT_TRUE(files.ok()) << files.status();
  const NamedText& original = files->front();
  const TempFolder folder;
  Rng rng(20);
  for (int round = 0; round < 24; ++round) {
    std::string text = original.text;
    if (round % 3 == 0) text.resize(rng.Below(static_cast<uint32_t>(text.size())) + 1);
    const uint32_t hits = 1 + rng.Below(8);
    for (uint32_t i = 0; i < hits; ++i) {
      const uint32_t at = rng.Below(static_cast<uint32_t>(text.size()));
      // A digit more is the likeliest to pass.
      text[at] = round % 2 == 0 ? static_cast<char>('0' + rng.Below(10))
                                : static_cast<char>(rng.Below(256));
    }
    const std::string file = folder.Write(original.name, text);
    const absl::StatusOr<Workload> workload =
        ImportWorkload(file, "auto", {.ranks = TakesRanks(GetParam()) ? 16u : 0u});
    if (workload.ok()) ExpectSound(*workload);
    (void)ImportRequests(file);
  }
}
std::string NameOfDamaged(const testing::TestParamInfo<const char*>& info) {
  const std::string path(info.param);
  return path.substr(0, path.find('/')) + std::to_string(info.index);
}
INSTANTIATE_TEST_SUITE_P(
    Import, Damaged,
    testing::Values("goal/binary_tree_32.goal", "chakra/pytorch_et_1.0.2-chakra.0.0.4.tgz",
                    "chakra/astra_custom_ring_allreduce_8npus_1MB.tar.gz",
                    "derived/dlrm_param_basic_rank0.json",
                    "aicb/G13B-M1-C01_GPT13B_megatron_tp8_pp1_mbs1.csv",
                    "simai/G13B-M1-C01_GPT13B_megatron_tp8_pp1_mbs1_A100.txt",
                    "param/dlrm_kineto_8rank.tar.gz",
                    "inference/mooncake_conversation_trace_first1500.jsonl.gz"),
    NameOfDamaged);

}  // namespace
}  // namespace weir
