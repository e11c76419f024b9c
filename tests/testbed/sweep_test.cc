// Sweeps: points and identities, and that a sweep may be killed, spread and merged.
#include "testbed/sweep/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "absl/strings/str_format.h"
#include "tests/support/program.h"
#include "tests/support/run_weir.h"
#include "tests/support/temp_folder.h"

namespace weir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

namespace fs = std::filesystem;

const std::string kSmall =
    "name = \"small\"\n"
    "[fabric]\nleaves = 2\nhosts_per_leaf = 4\nspines = 4\nrate = \"100Gbps\"\n"
    "[traffic]\nsize = \"64kB\"\n"
    "[[arms]]\ncc = \"nscc\"\nlb = \"reps\"\n"
    "[[arms]]\ncc = \"dctcp\"\nlb = \"ecmp\"\n"
    "[run]\nseeds = 5\n";

std::string Merged(const TempFolder& folder, const std::string& from) {
  const std::string out = folder / "merged.json";
  fs::remove(out);
  const Outcome merge = Weir("merge " + from + " --out " + out);
  EXPECT_EQ(merge.exit_code, 0) << merge.text;
  return Content(out);
}

size_t RunsIn(const std::string& out) {
  if (!fs::exists(out + "/runs")) return 0;
  size_t runs = 0;
  for (const auto& entry : fs::directory_iterator(out + "/runs")) {
    runs += entry.path().extension() == ".json" ? 1 : 0;
  }
  return runs;
}

TEST(SweepTest, FactorsAreCrossedInTheOrderOfTheFile) {
  const TempFolder folder;
  const std::string file = folder.Write(
      "s.toml", kSmall +
                    "[sweep]\ntraffic.size = [\"32kB\", \"64kB\"]\nfabric.spines = [1, 2, 4]\n"
                    "\"arms.0.cc_params.gamma\" = [0.5]\n");
  const absl::StatusOr<Sweep> sweep = Sweep::Load(file, {});
  ASSERT_TRUE(sweep.ok()) << sweep.status().message();
  EXPECT_EQ(sweep->points(), 6u);
  EXPECT_EQ(sweep->runs().size(), 6u * 5 * 2);
  EXPECT_EQ(PointText(sweep->factors(), 1),
            "traffic.size = '32kB', fabric.spines = 2, arms.0.cc_params.gamma = 0.5");
  EXPECT_THAT(sweep->ValuesAt(5), ElementsAre("'64kB'", "4", "0.5"));
  EXPECT_EQ(sweep->ExperimentAt(5)->traffic.size, Bytes(64'000));
  EXPECT_EQ(sweep->ExperimentAt(0)->traffic.size, Bytes(32'000));
}

TEST(SweepTest, FaultsAreAFactorLikeAnyOther) {
  const TempFolder folder;
  const std::string file = folder.Write(
      "s.toml",
      kSmall + "[sweep]\nfaults = [[], [{ kind = \"link_down\", link = \"leaf0-spine1\" }]]\n");
  const absl::StatusOr<Sweep> sweep = Sweep::Load(file, {});
  ASSERT_TRUE(sweep.ok()) << sweep.status().message();
  EXPECT_TRUE(sweep->ExperimentAt(0)->faults.empty());
  EXPECT_EQ(sweep->ExperimentAt(1)->faults.size(), 1u);
}

TEST(SweepTest, ARunsIdFollowsFromWhatItWillDoAndNothingElse) {
  const TempFolder folder;
  const auto ids = [&](const std::string& text, const std::vector<std::string>& sets = {}) {
    std::vector<std::string> out;
    const absl::StatusOr<Sweep> sweep = Sweep::Load(folder.Write("s.toml", text), sets);
    EXPECT_TRUE(sweep.ok()) << sweep.status().message();
    if (sweep.ok()) {
      for (const SweepRun& r : sweep->runs()) out.push_back(r.id);
    }
    return out;
  };
  const std::vector<std::string> base = ids(kSmall);
  EXPECT_EQ(std::set<std::string>(base.begin(), base.end()).size(), 10u);
  EXPECT_EQ(base[0].size(), 36u);
  EXPECT_EQ(ids("# a comment\n" + kSmall), base);
  EXPECT_EQ(ids(kSmall, {"name=other"}), base);
  // More seeds keep the runs that are there; another size makes others; another parameter of one
  // arm makes others of that arm only.
  const std::vector<std::string> more = ids(kSmall, {"run.seeds=6"});
  EXPECT_TRUE(std::equal(base.begin(), base.end(), more.begin()));
  EXPECT_NE(ids(kSmall, {"traffic.size=65kB"})[0], base[0]);
  const std::vector<std::string> other = ids(kSmall, {"arms.1.paths=3"});
  EXPECT_EQ(other[0], base[0]);
  EXPECT_NE(other[1], base[1]);
}

TEST(SweepTest, AnIdKnowsTheContentOfTheFilesThatItsExperimentNames) {
  const TempFolder folder;
  const std::string matrix = "Nodes 8\nConnections 1\n0->5 id 1 start 0 size ";
  const std::string text =
      "[fabric]\nleaves = 2\nhosts_per_leaf = 4\nspines = 4\n[traffic]\nfile = \"x.cm\"\n"
      "[[arms]]\ncc = \"nscc\"\nlb = \"reps\"\n";
  const std::string file = folder.Write("s.toml", text);
  folder.Write("x.cm", matrix + "1000\n");
  const absl::StatusOr<Sweep> before = Sweep::Load(file, {});
  ASSERT_TRUE(before.ok()) << before.status().message();
  folder.Write("x.cm", matrix + "2000\n");
  EXPECT_NE(Sweep::Load(file, {})->runs()[0].id, before->runs()[0].id);
}

TEST(SweepTest, AnIdKnowsTheFilesBehindAPatternAndInAFolder) {
  for (const std::string name : {"r*.json", "."}) {
    const TempFolder folder;
    const TempFolder traces;
    const std::string text =
        "[fabric]\nleaves = 2\nhosts_per_leaf = 4\nspines = 4\n[traffic]\n"
        "type = \"import\"\nfile = \"" +
        (traces / name) + "\"\n[[arms]]\ncc = \"nscc\"\nlb = \"reps\"\n";
    const std::string file = folder.Write("s.toml", text);
    const auto trace = [](int elements) {
      return absl::StrFormat(
          "[{\"comms\": \"all_reduce\", \"dtype\": \"float\", "
          "\"in_msg_size\": %d}]",
          elements);
    };
    traces.Write("r0.json", trace(10));
    traces.Write("r1.json", trace(10));
    const absl::StatusOr<Sweep> before = Sweep::Load(file, {});
    ASSERT_TRUE(before.ok()) << before.status().message();
    traces.Write("r1.json", trace(1000));
    EXPECT_NE(Sweep::Load(file, {})->runs()[0].id, before->runs()[0].id) << name;
  }
}

TEST(SweepTest, RefusalsNameTheFactor) {
  const TempFolder folder;
  const auto error = [&](const std::string& sweep, const std::vector<std::string>& sets = {}) {
    return std::string(
        Sweep::Load(folder.Write("s.toml", kSmall + "[sweep]\n" + sweep), sets).status().message());
  };
  EXPECT_THAT(error("fabric.spines = 4\n"),
              HasSubstr("s.toml:18: [sweep] fabric.spines: must be a list"));
  EXPECT_THAT(error("run.seeds = [1, 2]\n"), HasSubstr("seeds are no factor"));
  EXPECT_THAT(error("fabric.spine = [4]\n"), HasSubstr("did you mean \"spines\"? "));
  EXPECT_THAT(error("fabric.spine = [4]\n"), HasSubstr("(at fabric.spine = 4)"));
  EXPECT_THAT(error("fabric.spines = [4]\n", {"fabric.spines=2"}), HasSubstr("drop one"));
  const Outcome run =
      Weir("run " + folder.Write("s.toml", kSmall + "[sweep]\nfabric.spines=[4]\n"));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.text, HasSubstr("weir sweep"));
  EXPECT_THAT(Weir("sweep " + (folder / "s.toml") + " --out x --shard 5/4").text,
              HasSubstr("write I/N"));
  EXPECT_THAT(Weir("sweep " + (folder / "s.toml") + " --out x --shard-from-slurm").text,
              HasSubstr("SLURM_ARRAY_TASK_ID"));
  EXPECT_EQ(Weir("merge nowhere --out x").exit_code, 2);
}

// 60 runs. The killed sweep is stopped when some of its runs are there and others are not.
TEST(SweepTest, KilledAndResumedItGivesTheSameBytesAsOneThatWasNot) {
  const TempFolder folder;
  const std::string file =
      folder.Write("s.toml", kSmall +
                                 "[sweep]\ntraffic.size = [\"32kB\", \"64kB\", \"512kB\"]\n"
                                 "fabric.queue_limit = [\"1bdp\", \"2bdp\"]\n");
  ASSERT_EQ(Weir("sweep " + file + " --out " + (folder / "whole") + " --jobs 2").exit_code, 0);
  ASSERT_EQ(RunsIn(folder / "whole"), 60u);
  const std::string out = folder / "killed";
  size_t at_kill = 0;
  {
    Program sweep({WEIR_PROGRAM, "sweep", file, "--out", out, "--jobs", "2"});
    for (int i = 0; i < 1'000'000 && RunsIn(out) < 7; ++i) sched_yield();
    sweep.Signal(SIGKILL);
    at_kill = RunsIn(out);
  }
  EXPECT_LT(at_kill, 60u);
  const Outcome early = Weir("merge " + out + " --out " + (folder / "early.json"));
  EXPECT_EQ(early.exit_code, 1);
  EXPECT_THAT(early.text, HasSubstr("runs are missing"));
  EXPECT_FALSE(fs::exists(folder / "early.json"));
  const Outcome resumed = Weir("sweep " + file + " --out " + out + " --jobs 1");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.text;
  EXPECT_THAT(resumed.text, testing::Not(HasSubstr(" 0 of them already done")));
  const std::string whole = Merged(folder, folder / "whole");
  EXPECT_GT(whole.size(), 10'000u);
  EXPECT_EQ(whole, Merged(folder, out));
}

TEST(SweepTest, ADamagedRunIsNamedWithWhatToDo) {
  const TempFolder folder;
  const std::string file = folder.Write("s.toml", kSmall);
  const std::string out = folder / "out";
  ASSERT_EQ(Weir("sweep " + file + " --out " + out).exit_code, 0);
  const fs::path victim = *fs::directory_iterator(out + "/runs");
  fs::resize_file(victim, fs::file_size(victim) / 2);
  const Outcome merge = Weir("merge " + out + " --out " + (folder / "m.json"));
  EXPECT_EQ(merge.exit_code, 2);
  EXPECT_THAT(merge.text, HasSubstr(victim.string()));
  EXPECT_THAT(merge.text, HasSubstr("remove it and run the sweep again"));
  nlohmann::json plan = nlohmann::json::parse(Content(out + "/plan.json"));
  plan["points"] = 3;
  std::ofstream(out + "/plan.json") << plan.dump();
  EXPECT_THAT(Weir("merge " + out + " --out " + (folder / "m.json")).text,
              HasSubstr("does not fit together"));
  std::ofstream(out + "/plan.json") << "{";
  EXPECT_THAT(Weir("merge " + out + " --out " + (folder / "m.json")).text,
              HasSubstr("is no plan of a sweep"));
}

TEST(SweepTest, ShardsMergeIntoTheSameBytesInAnyOrder) {
  const TempFolder folder;
  const std::string file = folder.Write("s.toml", kSmall + "[sweep]\nfabric.spines = [2, 4]\n");
  ASSERT_EQ(Weir("sweep " + file + " --out " + (folder / "all")).exit_code, 0);
  for (const std::string shard : {"3", "1", "2"}) {
    const Outcome part =
        Weir("sweep " + file + " --out " + (folder / shard) + " --shard " + shard + "/3");
    ASSERT_EQ(part.exit_code, 0) << part.text;
  }
  EXPECT_EQ(RunsIn(folder / "1"), 7u);  // of 20: 7, 7, 6
  const std::string all = Merged(folder, folder / "all");
  EXPECT_EQ(all, Merged(folder, (folder / "2") + " " + (folder / "3") + " " + (folder / "1")));
  EXPECT_THAT(all, testing::Not(HasSubstr("cpu_seconds")));
}

// The worker is killed while it has a run; another takes the rest.
TEST(SweepTest, ARunThatDiesIsNamedAndTheOthersGoOn) {
  const TempFolder folder;
  const std::string file = folder.Write("s.toml", kSmall + "[sweep]\nfabric.spines = [1, 2, 4]\n");
  const std::string out = folder / "out";
  Program sweep({WEIR_PROGRAM, "sweep", file, "--out", out, "--jobs", "1"});
  const std::string children =
      absl::StrFormat("/proc/%d/task/%d/children", sweep.pid(), sweep.pid());
  pid_t worker = 0;
  for (int i = 0; i < 1'000'000 && RunsIn(out) < 2; ++i) sched_yield();
  std::ifstream(children) >> worker;
  ASSERT_GT(worker, 0);
  kill(worker, SIGKILL);
  EXPECT_EQ(sweep.Wait(), 1) << sweep.output();
  EXPECT_THAT(sweep.output(), HasSubstr("its process was ended by signal 9"));
  EXPECT_THAT(sweep.output(), HasSubstr("1 runs failed; the same command tries them again"));
  EXPECT_GE(RunsIn(out), 29u);
  EXPECT_EQ(Weir("sweep " + file + " --out " + out).exit_code, 0);
  EXPECT_EQ(RunsIn(out), 30u);
}

}  // namespace
}  // namespace weir
