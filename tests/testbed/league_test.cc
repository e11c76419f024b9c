// A league's order, its ties and its baseline.
#include "testbed/experiment/league.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cc_algos/registry.h"
#include "lb_policies/registry.h"

namespace weir {
namespace {

using testing::HasSubstr;

struct Season {
  std::string arm;
  const char* cc;
  std::vector<int64_t> last_us;  // by seed; 0: did not finish
};

League Played(const std::vector<Season>& seasons, bool busy = false) {
  Experiment experiment;
  experiment.seeds = {1, 2, 3, 4};
  std::vector<RunResult> results;
  for (const Season& season : seasons) {
    Arm arm{.name = season.arm};
    arm.binding.cc = FindCc(season.cc);
    arm.binding.lb = FindLb("ecmp");
    experiment.arms.push_back(arm);
    for (size_t i = 0; i < season.last_us.size(); ++i) {
      RunResult r;
      r.arm = season.arm;
      r.seed = i + 1;
      r.finished = season.last_us[i] > 0;
      r.makespan = Micros(season.last_us[i]);
      r.ideal = Micros(100);
      if (busy) r.real_time = RealTimeStats{.too_busy = "late"};
      results.push_back(r);
    }
  }
  return MakeLeague(experiment, results);
}

std::vector<std::pair<std::string, int>> Ranks(const League& league) {
  std::vector<std::pair<std::string, int>> ranks;
  for (const LeagueRow& row : league.rows) ranks.emplace_back(row.arm, row.rank);
  return ranks;
}

using Order = std::vector<std::pair<std::string, int>>;

TEST(LeagueTest, TheFasterArmIsFirst) {
  const League league =
      Played({{"slow", "none", {200, 204, 208, 212}}, {"fast", "nscc", {100, 104, 108, 112}}});
  EXPECT_EQ(Ranks(league), (Order{{"fast", 1}, {"slow", 2}}));
  EXPECT_EQ(league.baseline, "slow");
  EXPECT_DOUBLE_EQ(league.rows[0].slowdown, 1.06);  // 106 of 100 us
  EXPECT_DOUBLE_EQ(league.rows[0].against.difference, -100'000);
}

// The third is not shown to differ from the first; the fourth is, and ranks as fourth.
TEST(LeagueTest, ArmsThatAreNotShownToDifferShareARank) {
  const League league = Played({{"a", "nscc", {100, 100, 100, 100}},
                                {"b", "swift", {90, 115, 95, 120}},
                                {"c", "dctcp", {96, 118, 98, 112}},
                                {"d", "none", {150, 151, 149, 150}}});
  EXPECT_EQ(Ranks(league), (Order{{"a", 1}, {"b", 1}, {"c", 1}, {"d", 4}}));
}

TEST(LeagueTest, AnArmThatDoesNotFinishIsLastAndNotRanked) {
  const League league = Played(
      {{"quick but lossy", "nscc", {50, 0, 50, 50}}, {"whole", "none", {100, 101, 102, 103}}});
  EXPECT_EQ(Ranks(league), (Order{{"whole", 1}, {"quick but lossy", 0}}));
  EXPECT_THAT(LeagueTable(league), HasSubstr("3 of 4 runs finished"));
}

TEST(LeagueTest, NobodyIsRankedIfTheMachineWasBusy) {
  const League league = Played({{"a", "nscc", {100, 101, 102, 103}}}, /*busy=*/true);
  EXPECT_EQ(Ranks(league), (Order{{"a", 0}}));
  EXPECT_THAT(LeagueTable(league), HasSubstr("in 4 runs the machine was too busy"));
}

TEST(LeagueTest, NobodyIsComparedIfTheMachineWasBusy) {
  const std::vector<Season> seasons = {{"a", "none", {100, 101, 102, 103}},
                                       {"b", "nscc", {50, 51, 52, 53}}};
  EXPECT_THAT(LeagueTable(Played(seasons)), HasSubstr("-49."));
  const std::string busy = LeagueTable(Played(seasons, /*busy=*/true));
  EXPECT_THAT(busy, HasSubstr("not judged"));
  EXPECT_THAT(busy, testing::Not(HasSubstr("-49.")));
}

}  // namespace
}  // namespace weir
