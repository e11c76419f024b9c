// Which way packets take, what faults do to them, and that none is made or lost.
#include <cmath>
#include <set>

#include "gtest/gtest.h"
#include "testbed/fabric/fabric.h"
#include "tests/support/fabric_rig.h"

namespace weir {
namespace {

constexpr Rate kRate = Gbps(100);

// Hosts 0 and 1 on leaves 2 and 3, spines 4 to 7.
Topology FourSpines() {
  return LeafSpine({.leaves = 2, .hosts_per_leaf = 1, .spines = 4, .rate = kRate});
}
// Packets that left leaf 2 for each spine.
std::vector<uint64_t> BySpine(const FabricRig& rig) {
  std::vector<uint64_t> counts;
  for (NodeId spine = 4; spine < 8; ++spine) counts.push_back(rig.Port(2, spine).packets_in);
  return counts;
}

TEST(FabricPathsTest, AFlowKeepsItsPath) {
  FabricRig rig(FourSpines());
  for (int i = 0; i < 100; ++i) rig.Send({.flow = 12345});
  rig.RunFor(Millis(1));
  const auto counts = BySpine(rig);
  EXPECT_EQ(std::count(counts.begin(), counts.end(), 100u), 1);
}

TEST(FabricPathsTest, FlowsSpreadEvenly) {
  FabricRig rig(FourSpines());
  for (uint32_t i = 0; i < 4000; ++i) rig.Send({.wire = 100, .flow = i});
  rig.RunFor(Millis(1));
  // 4 sigma of 4000 with p = 1/4: 4 sqrt(750) = 110.
  for (const uint64_t n : BySpine(rig)) EXPECT_NEAR(static_cast<double>(n), 1000, 110);
}

// Hosts 0, 1; leaves 2, 3; aggregation switches 4, 5 and 6, 7; cores 8 to 11. Switch 4 leads to
// cores 8 and 9, switch 5 to 10 and 11.
TEST(FabricPathsTest, SwitchesThatHashAlikePolarise) {
  for (const bool same_seed : {false, true}) {
    FabricRig rig(FatTree({.pods = 2,
                           .leaves_per_pod = 1,
                           .aggs_per_pod = 2,
                           .hosts_per_leaf = 1,
                           .cores = 4,
                           .rate = kRate}),
                  {.same_seed = same_seed});
    for (uint32_t i = 0; i < 1000; ++i) rig.Send({.wire = 100, .flow = i});
    rig.RunFor(Millis(1));
    int used = 0;
    for (const auto& [agg, core] : {std::pair(4u, 8u), {4u, 9u}, {5u, 10u}, {5u, 11u}}) {
      used += rig.Port(agg, core).packets_in > 0 ? 1 : 0;
    }
    // Whoever comes to the first of two switches by the first half of all hashes chooses its first
    // link by the same half.
    EXPECT_EQ(used, same_seed ? 2 : 4);
  }
}

TEST(FabricPathsTest, RoundRobinTakesTurns) {
  FabricRig rig(FourSpines(), {.balancing = SwitchBalancing::kRoundRobin});
  for (int i = 0; i < 100; ++i) rig.Send({.flow = 1});
  rig.RunFor(Millis(1));
  for (const uint64_t n : BySpine(rig)) EXPECT_EQ(n, 25u);
}

// Eight hosts on each leaf and uplinks of the same rate: queues grow, and stay alike.
TEST(FabricPathsTest, AdaptiveKeepsQueuesAlike) {
  FabricRig rig(LeafSpine({.leaves = 2, .hosts_per_leaf = 8, .spines = 4, .rate = kRate}),
                {.balancing = SwitchBalancing::kAdaptive});
  for (int i = 0; i < 50; ++i) {
    for (uint32_t h = 0; h < 8; ++h) rig.Send({.from = h, .to = 8 + h, .flow = h});
  }
  rig.RunFor(Millis(1));
  EXPECT_EQ(rig.arrivals().size(), 400u);
  uint64_t least = ~0ull, most = 0;
  for (NodeId spine = 18; spine < 22; ++spine) {
    least = std::min(least, rig.Port(16, spine).packets_in);
    most = std::max(most, rig.Port(16, spine).packets_in);
  }
  EXPECT_LE(most - least, 4u);
}

TEST(FabricPathsTest, WhatIsOnALinkThatGoesDownIsLost) {
  FabricRig rig(SingleBottleneck({.senders = 1, .rate = kRate}));
  const LinkId down = rig.LinkBetween(0, 2);
  for (int i = 0; i < 50; ++i) rig.Send({});
  rig.RunFor(Nanos(800));  // ten have left, none has arrived; the eleventh is leaving
  rig.fabric().SetLink(rig.now(), down, false);
  rig.RunFor(Nanos(800));  // ten more go into the void
  rig.fabric().SetLink(rig.now(), down, true);
  EXPECT_EQ(rig.Breach(), "");
  rig.RunFor(Millis(1));
  EXPECT_NEAR(static_cast<double>(rig.fabric().stats().lost_by_fault), 21, 1);
  EXPECT_EQ(rig.arrivals().size() + rig.fabric().stats().lost_by_fault, 50u);
  EXPECT_EQ(rig.held(), 0u);  // the rest did not stay in the queue
}

// The routes follow when they are told to; then all goes round.
TEST(FabricPathsTest, ReroutingAvoidsALinkThatIsDown) {
  FabricRig rig(FourSpines());
  for (uint32_t i = 0; i < 400; ++i) rig.Send({.wire = 100, .flow = i});
  rig.fabric().SetLink(rig.now(), rig.LinkBetween(2, 4), false);
  rig.fabric().SetLink(rig.now(), rig.LinkBetween(4, 2), false);
  rig.RunFor(Millis(1));
  const uint64_t lost = rig.fabric().stats().lost_by_fault;
  EXPECT_NEAR(static_cast<double>(lost), 100, 35);  // 4 sqrt(400 * 3/16)
  rig.fabric().Reroute();
  for (uint32_t i = 0; i < 400; ++i) rig.Send({.wire = 100, .flow = i});
  rig.RunFor(Millis(1));
  EXPECT_EQ(rig.fabric().stats().lost_by_fault, lost);
  EXPECT_EQ(rig.arrivals().size(), 800 - lost);
}

TEST(FabricPathsTest, WithoutAnyWayPacketsAreUnroutable) {
  FabricRig rig(FourSpines());
  for (NodeId spine = 4; spine < 8; ++spine) {
    rig.fabric().SetLink(rig.now(), rig.LinkBetween(2, spine), false);
  }
  rig.fabric().Reroute();
  rig.Send({});
  rig.Send({.to = 77});  // no such host
  rig.RunFor(Millis(1));
  EXPECT_EQ(rig.fabric().stats().unroutable, 2u);
  EXPECT_EQ(rig.Breach(), "");
}

TEST(FabricPathsTest, ADegradedLinkIsSlower) {
  FabricRig rig(SingleBottleneck({.senders = 1, .rate = kRate, .delay = Micros(1)}));
  rig.fabric().SetRate(rig.now(), rig.LinkBetween(0, 2), 0.25);
  rig.Send({});
  rig.RunFor(Millis(1));
  EXPECT_EQ(rig.arrivals()[0].at, Time(320 + 80) + Micros(2));
  rig.fabric().SetRate(rig.now(), rig.LinkBetween(0, 2), 1);
  const Time again = rig.now();
  rig.Send({});
  rig.RunFor(Millis(1));
  EXPECT_EQ(rig.arrivals()[1].at, again + Nanos(160) + Micros(2));
}

// 5000 packets over one link with a fault.
class ImpairedLink : public testing::Test {
 protected:
  static constexpr int kPackets = 5000;

  void Send(const Impairment& impairment) {
    rig_.fabric().SetImpairment(rig_.LinkBetween(0, 2), impairment);
    for (int i = 0; i < kPackets; ++i) rig_.Send({.wire = 200});
    rig_.RunFor(Millis(10));
    EXPECT_EQ(rig_.Breach(), "");
    EXPECT_EQ(rig_.held(), 0u);
  }
  // Four standard deviations of a count with probability p.
  static double Spread(double p) { return 4 * std::sqrt(kPackets * p * (1 - p)); }
  const FabricStats& stats() { return rig_.fabric().stats(); }

  FabricRig rig_{SingleBottleneck({.senders = 1, .rate = kRate})};
};

TEST_F(ImpairedLink, LosesItsShare) {
  Send({.loss = 0.1});
  EXPECT_NEAR(static_cast<double>(stats().lost_by_fault), 500, Spread(0.1));
  EXPECT_EQ(rig_.arrivals().size() + stats().lost_by_fault, kPackets);
}

// In the bad state for 1/leave = 10 packets, in the good one for 1/enter = 90: a tenth is lost.
TEST_F(ImpairedLink, LosesInBursts) {
  Send({.burst_enter = 1.0 / 90, .burst_leave = 0.1});
  int bursts = 0;
  uint32_t expected = 0;
  for (const Arrival& a : rig_.arrivals()) {
    bursts += a.sequence != expected ? 1 : 0;
    expected = a.sequence + 1;
  }
  const auto lost = static_cast<double>(stats().lost_by_fault);
  EXPECT_NEAR(lost, 500, 280);  // some 50 bursts of 10: 4 sqrt(50) * 10
  EXPECT_NEAR(lost / bursts, 10, 6);
}

TEST_F(ImpairedLink, FlipsOneBit) {
  Send({.corruption = 0.1});
  int flipped = 0;
  for (const Arrival& a : rig_.arrivals()) {
    ASSERT_LE(a.flipped_bits, 1);
    flipped += a.flipped_bits;
  }
  EXPECT_EQ(flipped, static_cast<int>(stats().corrupted));
  EXPECT_NEAR(flipped, 500, Spread(0.1));
}

TEST_F(ImpairedLink, Duplicates) {
  Send({.duplication = 0.1});
  EXPECT_NEAR(static_cast<double>(stats().duplicated), 500, Spread(0.1));
  EXPECT_EQ(rig_.arrivals().size(), kPackets + stats().duplicated);
  std::set<uint32_t> different;
  for (const Arrival& a : rig_.arrivals()) different.insert(a.sequence);
  EXPECT_EQ(different.size(), static_cast<size_t>(kPackets));
}

// Held back by 5 us, 312 packets of 16 ns go by.
TEST_F(ImpairedLink, Reorders) {
  Send({.reordering = 0.1, .reorder_delay = Micros(5)});
  EXPECT_NEAR(static_cast<double>(stats().reordered), 500, Spread(0.1));
  uint32_t latest = 0;
  uint64_t late = 0;
  for (const Arrival& a : rig_.arrivals()) {
    late += a.sequence < latest ? 1 : 0;
    latest = std::max(latest, a.sequence);
  }
  EXPECT_EQ(rig_.arrivals().size(), static_cast<size_t>(kPackets));
  EXPECT_LE(late, stats().reordered);
  EXPECT_GE(late, stats().reordered - 20);
}

TEST_F(ImpairedLink, OfAHealthyLinkDoesNothing) {
  Send({});
  EXPECT_EQ(rig_.arrivals().size(), static_cast<size_t>(kPackets));
}

// Random traffic, switches and faults: at any moment every packet is accounted for.
TEST(FabricPathsTest, NothingIsMadeOrLost) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    SwitchConfig config{.queue_limit = Bytes(5'000 + rng.Below(50'000)),
                        .mark_min = Bytes(3'000),
                        .mark_max = Bytes(20'000),
                        .trimming = rng.Chance(0.5),
                        .pfc = rng.Chance(0.3),
                        .pfc_xoff = Bytes(10'000),
                        .balancing = static_cast<SwitchBalancing>(rng.Below(3))};
    if (rng.Chance(0.5)) config.buffer = Bytes(100'000);
    if (rng.Chance(0.3)) config.control_limit = Bytes(1'000);
    FabricRig rig(LeafSpine({.leaves = 3, .hosts_per_leaf = 3, .spines = 2, .rate = kRate}), config,
                  seed);
    const auto links = static_cast<uint32_t>(rig.fabric().topology().links.size());
    for (int step = 0; step < 300; ++step) {
      for (uint32_t n = rng.Below(20); n > 0; --n) {
        rig.Send({.from = rng.Below(9),
                  .to = rng.Below(9),
                  .wire = static_cast<uint16_t>(64 + rng.Below(4'000)),
                  .cls = static_cast<FrameClass>(rng.Below(3)),
                  .flow = rng.Below(100)});
      }
      const LinkId link = rng.Below(links);
      if (rng.Chance(0.05)) rig.fabric().SetLink(rig.now(), link, rng.Chance(0.5));
      if (rng.Chance(0.05)) rig.fabric().SetRate(rig.now(), link, 0.1 + 0.9 * rng.Unit());
      if (rng.Chance(0.05)) {
        rig.fabric().SetImpairment(link, {.loss = 0.1, .duplication = 0.1, .reordering = 0.1});
      }
      if (rng.Chance(0.02)) rig.fabric().Reroute();
      rig.RunFor(Nanos(rng.Below(2'000)));
      if (step % 10 == 0) {
        ASSERT_EQ(rig.Breach(), "") << step;
      }
    }
    for (LinkId link = 0; link < links; ++link) rig.fabric().SetLink(rig.now(), link, true);
    rig.fabric().Reroute();
    rig.RunFor(Millis(50));
    ASSERT_EQ(rig.Breach(), "");
    ASSERT_EQ(rig.held(), 0u);
  }
}

}  // namespace
}  // namespace weir
