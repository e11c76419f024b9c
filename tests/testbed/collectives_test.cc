// Plans of collectives: who learns from whom, and how much is sent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "testbed/traffic/collectives/collective.h"

namespace weir {
namespace {

using Kind = CollectiveKind;
using Algorithm = CollectiveAlgorithm;
using testing::HasSubstr;

Plan PlanOf(const CollectiveShape& shape) {
  const absl::StatusOr<Plan> plan = PlanCollective(shape);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *plan : Plan{};
}

// By rank: the ranks whose data may be in what it has in the end.
std::vector<std::set<uint32_t>> Heard(const Plan& plan, uint32_t ranks) {
  std::vector<std::set<uint32_t>> carried;  // by message
  std::vector<std::set<uint32_t>> heard(ranks);
  for (uint32_t r = 0; r < ranks; ++r) heard[r].insert(r);
  for (const PlanMessage& m : plan.messages) {
    std::set<uint32_t> from{m.from};
    for (const uint32_t need : plan.NeedsOf(m)) {
      EXPECT_LT(need, carried.size()) << "a message needs a later one";
      EXPECT_EQ(plan.messages[need].to, m.from);
      from.insert(carried[need].begin(), carried[need].end());
    }
    if (m.after_sent != kNoMessage) {
      EXPECT_EQ(plan.messages[m.after_sent].from, m.from);
    }
    heard[m.to].insert(from.begin(), from.end());
    carried.push_back(std::move(from));
  }
  return heard;
}

struct Case {
  Kind kind;
  Algorithm algorithm;
  uint32_t ranks;
  uint32_t per_node;
};
std::string NameOf(const testing::TestParamInfo<Case>& info) {
  return std::string(Name(info.param.kind)) + "_" + Name(info.param.algorithm) + "_" +
         std::to_string(info.param.ranks) + "_in_nodes_of_" + std::to_string(info.param.per_node);
}

class EveryCollective : public testing::TestWithParam<Case> {
 protected:
  CollectiveShape Shape() const {
    const Case& c = GetParam();
    return {.kind = c.kind,
            .algorithm = c.algorithm,
            .ranks = c.ranks,
            .ranks_per_node = c.per_node,
            .size = MiB(3) + Bytes(52),
            .channels = 2,
            .matrix = {}};
  }
};

TEST_P(EveryCollective, EachRankHearsFromThoseItMust) {
  const CollectiveShape s = Shape();
  const std::vector<std::set<uint32_t>> heard = Heard(PlanOf(s), s.ranks);
  for (uint32_t r = 0; r < s.ranks; ++r) {
    switch (s.kind) {
      case Kind::kBroadcast:
      case Kind::kScatter:
        EXPECT_TRUE(heard[r].contains(s.root)) << "rank " << r;
        break;
      case Kind::kReduce:
      case Kind::kGather:
        if (r == s.root) {
          EXPECT_EQ(heard[r].size(), s.ranks);
        }
        break;
      default:
        EXPECT_EQ(heard[r].size(), s.ranks) << "rank " << r;
    }
  }
}

TEST_P(EveryCollective, NobodySendsToItselfAndEverythingHasASize) {
  const CollectiveShape s = Shape();
  for (const PlanMessage& m : PlanOf(s).messages) {
    ASSERT_LT(std::max({m.from, m.to, m.via}), s.ranks);
    ASSERT_NE(m.from, m.to);
    ASSERT_GT(m.size, Bytes(0));
    ASSERT_EQ(m.via / s.ranks_per_node, m.from / s.ranks_per_node) << "a NIC of another node";
  }
}

// ai-traffic tables: bytes sent a rank, within the rounding of chunks to 16 bytes.
TEST_P(EveryCollective, ARankSendsWhatTheClosedFormSays) {
  const CollectiveShape s = Shape();
  std::vector<double> sent(s.ranks);
  for (const PlanMessage& m : PlanOf(s).messages) {
    sent[m.from] += static_cast<double>(m.size.count());
  }
  const double n = s.ranks;
  const double size = static_cast<double>(s.size.count());
  const double most = *std::max_element(sent.begin(), sent.end());
  double expected = size * (n - 1) / n;
  if (s.kind == Kind::kAllReduce) expected *= 2;
  if (s.algorithm == Algorithm::kTree) expected = 2 * size + (s.ranks_per_node > 1 ? size : 0);
  if (s.algorithm == Algorithm::kHierarchical && s.kind != Kind::kAllReduce) {
    const double nodes = n / s.ranks_per_node;
    expected = size / s.ranks_per_node * ((nodes - 1) / nodes + s.ranks_per_node - 1);
  }
  if (s.algorithm == Algorithm::kHierarchical && s.kind == Kind::kAllReduce) {
    const double nodes = n / s.ranks_per_node;
    expected = size / s.ranks_per_node * 2 * ((nodes - 1) / nodes + s.ranks_per_node - 1);
  }
  if (s.kind == Kind::kBroadcast || s.kind == Kind::kReduce) {
    expected = s.algorithm == Algorithm::kRing ? size : size * std::ceil(std::log2(n));
    if (s.kind == Kind::kReduce && s.algorithm == Algorithm::kBinomial) expected = size;
  }
  if (s.kind == Kind::kGather) expected = size / n;
  EXPECT_NEAR(most, expected, 0.01 * expected + 16 * n);
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (int k = 0; k < kCollectiveKinds; ++k) {
    for (int a = 1; a < kCollectiveAlgorithms; ++a) {
      for (const auto& [ranks, per_node] :
           {std::pair(2u, 1u), {5u, 1u}, {8u, 1u}, {16u, 4u}, {24u, 8u}}) {
        const Case c{static_cast<Kind>(k), static_cast<Algorithm>(a), ranks, per_node};
        const CollectiveShape s{.kind = c.kind,
                                .algorithm = c.algorithm,
                                .ranks = ranks,
                                .ranks_per_node = per_node,
                                .size = MiB(1),
                                .matrix = {}};
        if (c.kind != Kind::kBarrier && CheckCollective(s).ok()) cases.push_back(c);
      }
    }
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Collectives, EveryCollective, testing::ValuesIn(Cases()), NameOf);

TEST(Collectives, ARingSendsSlicesOfOneMebibyte) {
  // 64 MiB over 4 ranks: 8 loops of 4 chunks of 2 MiB, each two slices, 6 hops.
  const Plan plan = PlanOf({.ranks = 4, .size = MiB(64), .matrix = {}});
  EXPECT_EQ(plan.messages.size(), 8u * 4 * 2 * 6);
  for (const PlanMessage& m : plan.messages) EXPECT_EQ(m.size, MiB(1));
}

TEST(Collectives, TheLastLoopOfARingShrinksItsChunks) {
  // 1 MiB over 4 ranks: chunks of 256 KiB, in two slices.
  for (const PlanMessage& m :
       PlanOf({.algorithm = Algorithm::kRing, .ranks = 4, .size = MiB(1), .matrix = {}}).messages) {
    EXPECT_EQ(m.size, KiB(128));
  }
}

TEST(Collectives, LowLatencyProtocolsSendFlagsToo) {
  const Plan plan = PlanOf({.algorithm = Algorithm::kRing,
                            .ranks = 2,
                            .size = KiB(4),
                            .protocol = LLProtocol(),
                            .matrix = {}});
  Bytes total{};
  for (const PlanMessage& m : plan.messages) total += m.size;
  EXPECT_EQ(total, 2 * 2 * KiB(4));  // 2 (n-1)/n of 4 KiB from each of two, each byte with a flag
}

TEST(Collectives, ChannelsCrossNodesOnDifferentNics) {
  std::map<uint32_t, std::set<uint32_t>> nics;  // by channel
  const CollectiveShape s{
      .ranks = 16, .ranks_per_node = 8, .size = MiB(64), .channels = 8, .matrix = {}};
  for (const PlanMessage& m : PlanOf(s).messages) {
    if (m.from / 8 != m.to / 8) {
      nics[m.channel].insert(m.via % 8);
      EXPECT_EQ(m.via % 8, m.to % 8) << "crosses rails";
    }
  }
  ASSERT_EQ(nics.size(), 8u);
  for (const auto& [channel, used] : nics) EXPECT_EQ(used, std::set<uint32_t>{channel});
}

TEST(Collectives, PxnKeepsToTheReceiversRail) {
  const CollectiveShape s{.kind = Kind::kAllToAll,
                          .algorithm = Algorithm::kPxn,
                          .ranks = 16,
                          .ranks_per_node = 4,
                          .size = MiB(1),
                          .matrix = {}};
  for (const PlanMessage& m : PlanOf(s).messages) {
    if (m.from / 4 != m.to / 4) {
      EXPECT_EQ(m.via % 4, m.to % 4);
    }
  }
}

TEST(Collectives, AllRanksOfAShiftedAllToAllAreAtOneDistanceATime) {
  const CollectiveShape s{
      .kind = Kind::kAllToAll, .ranks = 16, .size = MiB(1), .concurrent_peers = 1, .matrix = {}};
  const Plan plan = PlanOf(s);
  std::vector<std::vector<uint32_t>> order(s.ranks);
  for (const PlanMessage& m : plan.messages) {
    const uint32_t distance = (m.to + s.ranks - m.from) % s.ranks;
    if (order[m.from].empty() || order[m.from].back() != distance) {
      order[m.from].push_back(distance);
    }
  }
  for (const auto& distances : order) EXPECT_EQ(distances, order[0]);
  EXPECT_EQ(order[0].size(), 15u);
  EXPECT_EQ(order[0][6], 7u);
  EXPECT_EQ(order[0][7], 8u);
}

TEST(Collectives, AMatrixSaysWhoGetsWhat) {
  CollectiveShape s{.kind = Kind::kAllToAll, .ranks = 3, .size = Bytes(100), .matrix = {}};
  s.matrix = {Bytes(0), Bytes(10), Bytes(0), Bytes(0), Bytes(0),
              Bytes(0), Bytes(7),  Bytes(0), Bytes(0)};
  const Plan plan = PlanOf(s);
  ASSERT_EQ(plan.messages.size(), 2u);
  EXPECT_EQ(plan.messages[0].to, 1u);
  EXPECT_EQ(plan.messages[0].size, Bytes(10));
  EXPECT_EQ(plan.messages[1].from, 2u);
  EXPECT_EQ(plan.messages[1].size, Bytes(7));
}

TEST(Collectives, BusFactorsAreThoseOfNcclTests) {
  EXPECT_DOUBLE_EQ(BusFactor(Kind::kAllReduce, 8), 2 * 7.0 / 8);
  EXPECT_DOUBLE_EQ(BusFactor(Kind::kAllGather, 8), 7.0 / 8);
  EXPECT_DOUBLE_EQ(BusFactor(Kind::kReduceScatter, 8), 7.0 / 8);
  EXPECT_DOUBLE_EQ(BusFactor(Kind::kAllToAll, 8), 7.0 / 8);
  EXPECT_DOUBLE_EQ(BusFactor(Kind::kGather, 8), 7.0 / 8);
  EXPECT_DOUBLE_EQ(BusFactor(Kind::kScatter, 8), 7.0 / 8);
  EXPECT_DOUBLE_EQ(BusFactor(Kind::kBroadcast, 8), 1);
  EXPECT_DOUBLE_EQ(BusFactor(Kind::kReduce, 8), 1);
}

TEST(Collectives, TheIdealRingIsTheClosedForm) {
  // 8 ranks, 64 MiB at 100 Gb/s: 2 x 7/8 x S/B = 9.4 ms, and 14 latencies hidden behind slices.
  const CollectiveShape s{.algorithm = Algorithm::kRing, .ranks = 8, .size = MiB(64), .matrix = {}};
  const double seconds =
      static_cast<double>(IdealCollective(s, Micros(2), Gbps(100)).count()) * 1e-9;
  EXPECT_NEAR(seconds, 2 * 7.0 / 8 * 67108864 * 8 / 100e9, 1e-5);
}

TEST(Collectives, WhatCannotBeIsRefusedWithItsReason) {
  const auto why = [](const CollectiveShape& s) {
    return std::string(PlanCollective(s).status().message());
  };
  EXPECT_THAT(
      why({.algorithm = Algorithm::kHalvingDoubling, .ranks = 12, .size = MiB(1), .matrix = {}}),
      HasSubstr("needs a power of two ranks, not 12"));
  EXPECT_THAT(why({.kind = Kind::kAllToAll,
                   .algorithm = Algorithm::kTree,
                   .ranks = 4,
                   .size = MiB(1),
                   .matrix = {}}),
              HasSubstr("alltoall by tree"));
  EXPECT_THAT(why({.ranks = 10, .ranks_per_node = 4, .size = MiB(1), .matrix = {}}),
              HasSubstr("10 ranks don't fill nodes of 4"));
  EXPECT_THAT(why({.ranks = 4, .size = Bytes(0), .matrix = {}}), HasSubstr("size must be above 0"));
}

}  // namespace
}  // namespace weir
