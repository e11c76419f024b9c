#include "lb_policies/qp_scaling.h"

#include <gtest/gtest.h>

#include "tests/lb_policies/lb_support.h"

namespace weir {
namespace {

std::vector<PathId> FlowsOf(LoadBalancer& lb, uint32_t flows) {
  std::vector<PathId> paths;
  for (uint32_t m = 0; m < flows; ++m) paths.push_back(lb.PickPath({.message = m}));
  return paths;
}

TEST(QpScalingTest, WholeMessagesTakeTheFlowsInTurn) {
  QpScaling lb(TestLb(65'536), {.flows = 3});
  const auto flows = FlowsOf(lb, 3);
  for (uint32_t message = 0; message < 9; ++message) {
    for (int packet = 0; packet < 5; ++packet) {
      const TxContext tx{.message = message, .offset = Bytes(4096) * packet};
      EXPECT_EQ(lb.PickPath(tx), flows[message % 3]);
    }
  }
}

TEST(QpScalingTest, ASplitMessageIsDealtOutEvenly) {
  QpScaling lb(TestLb(65'536), {.flows = 4, .split = true});
  std::vector<PathId> first;
  for (int i = 0; i < 4; ++i) first.push_back(lb.PickPath({.message = 1}));
  for (int i = 4; i < 40; ++i) EXPECT_EQ(lb.PickPath({.message = 1}), first[i % 4]);
  EXPECT_EQ(lb.PickPath({.message = 2}), first[0]);  // and the next goes on from there
  EXPECT_EQ(lb.PickPath({.message = 3}), first[1]);
}

TEST(QpScalingTest, AFlowSendsAgainWhatItLost) {
  for (const bool split : {false, true}) {
    QpScaling lb(TestLb(65'536), {.flows = 4, .split = split});
    const PathId lost_on = lb.PickPath({.message = 3});
    EXPECT_EQ(lb.PickPath({.message = 0, .retransmit = true, .lost_on = lost_on}), lost_on);
  }
}

// T-QP-1: sixteen pairs on sixteen links. One flow each puts 3.07 on the fullest link; 4 each make
// 64 flows and 1.97 times the mean; 16 each 256 and 1.46.
TEST(QpScalingTest, MoreFlowsEvenOutTheLinks) {
  struct Row {
    int64_t flows;
    double max_over_mean;
  };
  for (const Row& row : {Row{1, 3.07}, Row{4, 1.97}, Row{16, 1.46}}) {
    constexpr int kSeeds = 1000;
    double sum = 0;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      std::vector<int> load(16);
      for (uint64_t pair = 0; pair < 16; ++pair) {
        QpScaling lb(TestLb(16, seed * 16 + pair), {.flows = row.flows});
        for (const PathId path : FlowsOf(lb, static_cast<uint32_t>(row.flows))) ++load[path];
      }
      sum += MaxOverMean(load);
    }
    EXPECT_NEAR(sum / kSeeds, row.max_over_mean, 0.1) << row.flows;
  }
}

// T-QP-2: whoever depends on the order of messages, or of packets, must be able to see it.
TEST(QpScalingTest, SaysHowItReorders) {
  EXPECT_EQ(QpScaling::Reorders({.split = false}), Reordering::kRarely);
  EXPECT_EQ(QpScaling::Reorders({.split = true}), Reordering::kAlways);
}

}  // namespace
}  // namespace weir
