// The experiment files that come with Weir are what its program takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "testbed/sweep/sweep.h"
#include "tests/support/temp_folder.h"

namespace weir {
namespace {

std::vector<std::string> Files() {
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(WEIR_SOURCE_DIR "/testbed/experiments")) {
    const std::string text = Content(entry.path().string());
    // Validation files hold rows, not an experiment.
    if (text.find("[[rows]]") == std::string::npos) files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

class OurExperiment : public testing::TestWithParam<std::string> {};

TEST_P(OurExperiment, LoadsAtEveryPointAndHasSeedsForAVerdictIfItCompares) {
  const absl::StatusOr<Sweep> sweep = Sweep::Load(GetParam(), {});
#ifndef WEIR_HAS_DPDK
  if (sweep.status().message().find("needs DPDK") != absl::string_view::npos) {
    GTEST_SKIP() << "needs DPDK";
  }
#endif
  ASSERT_TRUE(sweep.ok()) << sweep.status();
  std::set<uint64_t> seeds;
  for (const SweepRun& run : sweep->runs()) seeds.insert(run.seed);
  const std::string text = Content(GetParam());
  const bool compares =
      text.find("weir ab") != std::string::npos || text.find("weir sweep") != std::string::npos;
  EXPECT_GE(seeds.size(), compares ? 5u : 1u);
}

std::string NameOf(const testing::TestParamInfo<std::string>& info) {
  return std::filesystem::path(info.param).stem().string();
}
INSTANTIATE_TEST_SUITE_P(Experiments, OurExperiment, testing::ValuesIn(Files()), NameOf);

}  // namespace
}  // namespace weir
