#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "testbed/traffic/traffic.h"

namespace weir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<uint32_t> Destinations(const Traffic& traffic) {
  std::vector<uint32_t> to;
  for (const TrafficConnection& c : traffic.connections) to.push_back(c.to);
  return to;
}

std::vector<uint32_t> Sources(const Traffic& traffic) {
  std::vector<uint32_t> from;
  for (const TrafficConnection& c : traffic.connections) from.push_back(c.from);
  return from;
}

TEST(PermutationTest, EveryHostSendsToAnotherAndReceivesOnce) {
  for (const uint32_t hosts : {2u, 3u, 17u, 128u}) {
    for (uint64_t seed = 1; seed <= 50; ++seed) {
      SCOPED_TRACE(testing::Message() << hosts << " hosts, seed " << seed);
      const Traffic traffic = Permutation(hosts, Bytes(10), seed);
      ASSERT_EQ(traffic.transfers.size(), hosts);
      std::set<uint32_t> to;
      for (uint32_t h = 0; h < hosts; ++h) {
        EXPECT_EQ(traffic.connections[h].from, h);
        EXPECT_NE(traffic.connections[h].to, h);
        EXPECT_LT(traffic.connections[h].to, hosts);
        to.insert(traffic.connections[h].to);
      }
      EXPECT_EQ(to.size(), hosts);
    }
  }
}

TEST(PermutationTest, TheSeedDecides) {
  const Traffic a = Permutation(64, Bytes(2'000'000), 1);
  EXPECT_EQ(Destinations(a), Destinations(Permutation(64, Bytes(2'000'000), 1)));
  EXPECT_NE(Destinations(a), Destinations(Permutation(64, Bytes(2'000'000), 2)));
  EXPECT_EQ(a.name, "permutation 64 x 2000000 B");
  EXPECT_EQ(a.hosts, 64u);
}

TEST(PermutationTest, OneHostHasNobodyToSendTo) {
  EXPECT_THAT(Permutation(1, Bytes(1), 1).transfers, IsEmpty());
  EXPECT_THAT(Permutation(0, Bytes(1), 1).transfers, IsEmpty());
}

TEST(IncastTest, SendersAreSpreadEvenlyOverTheOthers) {
  // The others of receiver 2 are 0 1 3 4 5 6 7 8; every second of the eight sends.
  const Traffic traffic = Incast(9, 4, 2, KiB(64));
  EXPECT_THAT(Sources(traffic), ElementsAre(0, 3, 5, 7));
  EXPECT_THAT(Destinations(traffic), ElementsAre(2, 2, 2, 2));
  EXPECT_EQ(traffic.transfers[3].size, KiB(64));
}

TEST(IncastTest, AllOthersCanSendOnceAndMoreSendersRepeatHosts) {
  EXPECT_THAT(Sources(Incast(4, 3, 3, Bytes(1))), ElementsAre(0, 1, 2));
  EXPECT_THAT(Sources(Incast(4, 3, 0, Bytes(1))), ElementsAre(1, 2, 3));
  EXPECT_THAT(Sources(Incast(4, 6, 3, Bytes(1))), ElementsAre(0, 0, 1, 1, 2, 2));
}

TEST(IncastTest, WithoutSendersOrOthersNothingIsSent) {
  EXPECT_THAT(Incast(9, 0, 2, Bytes(1)).transfers, IsEmpty());
  EXPECT_THAT(Incast(1, 3, 0, Bytes(1)).transfers, IsEmpty());
}

TEST(AllToAllTest, EveryOrderedPairSendsOnceAndTheShiftIsItsLabel) {
  const Traffic traffic = AllToAll(4, Bytes(100));
  EXPECT_THAT(Sources(traffic), ElementsAre(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3));
  EXPECT_THAT(Destinations(traffic), ElementsAre(1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2));
  EXPECT_EQ(traffic.transfers[0].label, 1u);
  EXPECT_EQ(traffic.transfers[11].label, 3u);
  EXPECT_THAT(AllToAll(1, Bytes(100)).transfers, IsEmpty());
}

TEST(RingAllReduceTest, HasTwiceRanksLessOneStepsOfOneChunk) {
  const Traffic traffic = RingAllReduce(16, 4, Bytes(1000));
  EXPECT_EQ(traffic.hosts, 16u);
  EXPECT_EQ(traffic.connections.size(), 4u);
  EXPECT_EQ(traffic.transfers.size(), 4u * 2 * 3);
  EXPECT_EQ(traffic.triggers.size(), 4u * (2 * 3 - 1));
  for (const Transfer& t : traffic.transfers) EXPECT_EQ(t.size, Bytes(250));
  EXPECT_EQ(RingAllReduce(4, 4, Bytes(1001)).transfers[0].size, Bytes(251));  // rounded up
}

TEST(RingAllReduceTest, ARankSendsAStepWhenItHasReceivedTheOneBefore) {
  const Traffic traffic = RingAllReduce(4, 4, Bytes(1000));
  for (const Transfer& sent : traffic.transfers) {
    const uint32_t sender = traffic.connections[sent.connection].from;
    if (sent.label == 0) {
      EXPECT_EQ(sent.after, kNoTrigger);
      continue;
    }
    int fired_by = 0;
    for (const Transfer& received : traffic.transfers) {
      if (received.on_received != sent.after) continue;
      ++fired_by;
      EXPECT_EQ(received.label + 1, sent.label);
      EXPECT_EQ(traffic.connections[received.connection].to, sender);
    }
    EXPECT_EQ(fired_by, 1);
  }
}

TEST(RingAllReduceTest, TwoRanksExchangeAndOneHasNothingToDo) {
  const Traffic two = RingAllReduce(2, 2, Bytes(10));
  EXPECT_THAT(Destinations(two), ElementsAre(1, 0));
  EXPECT_EQ(two.transfers.size(), 2u * 2);
  EXPECT_THAT(RingAllReduce(2, 1, Bytes(10)).transfers, IsEmpty());
}

}  // namespace
}  // namespace weir
