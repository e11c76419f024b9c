// Queues and links: times, limits, marks, priorities, pausing.
#include "testbed/fabric/fabric.h"

#include <vector>

#include "gtest/gtest.h"
#include "testbed/virtual/world.h"
#include "tests/support/fabric_rig.h"

namespace weir {
namespace {

constexpr Rate kRate = Gbps(100);  // 1000 B take 80 ns
constexpr Duration kDelay = Micros(1);

// Every sender sends one packet at once: they meet at the switch at the same time.
void Burst(FabricRig& rig, uint32_t senders, Sending s = {}) {
  s.to = senders;
  for (s.from = 0; s.from < senders; ++s.from) rig.Send(s);
}
Topology Star(uint32_t senders) {
  return SingleBottleneck({.senders = senders, .rate = kRate, .delay = kDelay});
}

// 4186 B: 335 ns at 100 Gb/s and 84 ns at 400 Gb/s, rounded up on each of four links.
TEST(FabricTest, OnePacketIsStoredAndForwardedOnEveryLink) {
  const Topology topology = LeafSpine({.leaves = 2,
                                       .hosts_per_leaf = 1,
                                       .spines = 1,
                                       .rate = kRate,
                                       .uplink_rate = Gbps(400),
                                       .delay = kDelay});
  FabricRig rig(topology);
  rig.Send({.wire = 4186});
  rig.RunFor(Millis(1));
  ASSERT_EQ(rig.arrivals().size(), 1u);
  EXPECT_EQ(rig.arrivals()[0].at, Time(0) + 2 * Nanos(335 + 84) + 4 * kDelay);
  // The same sum, by the world; nothing comes back but 4 us of delay.
  const World world(topology, {.packets_max = 1, .tx_pages_max = 1});
  EXPECT_EQ(rig.arrivals()[0].at,
            Time(0) + world.BaseRtt(0, 1, Bytes(4186), Bytes(0)) - 4 * kDelay);
}

// 50 packets of 41.58 ns leave in 2079 ns, not in 50 * 42.
TEST(FabricTest, SerialisationDoesNotDrift) {
  FabricRig rig(SingleBottleneck({.senders = 1, .rate = Gbps(800), .delay = kDelay}));
  for (int i = 0; i < 50; ++i) rig.Send({.wire = 4158});
  rig.RunFor(Millis(1));
  ASSERT_EQ(rig.arrivals().size(), 50u);
  const Time last = rig.arrivals().back().at;
  EXPECT_GE(last, Time(2079 + 42) + 2 * kDelay);
  EXPECT_LE(last, Time(2079 + 43) + 2 * kDelay);
}

// Of 13 packets that meet, one leaves at once and ten may wait: the limit is 10 of 1000 B.
TEST(FabricTest, TrimsWhatExceedsTheLimit) {
  for (const auto& [limit, trims] : {std::pair(Bytes(10'000), 2u), {Bytes(9'999), 3u}}) {
    FabricRig rig(Star(13), {.queue_limit = limit, .trimming = true});
    Burst(rig, 13);
    rig.RunFor(Millis(1));
    ASSERT_EQ(rig.arrivals().size(), 13u);
    EXPECT_EQ(rig.fabric().stats().trims, trims);
    // Headers go before what waits: right behind the packet that was leaving.
    for (size_t i = 0; i < 13; ++i) {
      const Arrival& a = rig.arrivals()[i];
      const bool cut = i >= 1 && i <= trims;
      EXPECT_EQ(a.trimmed, cut) << i;
      EXPECT_EQ(a.trimmed_last_hop, cut);
      EXPECT_EQ(a.wire, cut ? 90 : 1000);
    }
    EXPECT_EQ(rig.Breach(), "");
  }
}

// At half the rate, with half of 20 packets: the same two of 13 are trimmed, and of 40 packets as
// many are marked as with thresholds of 10.
TEST(FabricTest, ASlowLinkMayHaveThresholdsInItsShare) {
  FabricRig trims(Star(13), {.queue_limit = Bytes(20'000), .trimming = true});
  trims.fabric().SetRate(trims.now(), trims.LinkBetween(14, 13), 0.5, true);
  Burst(trims, 13);
  trims.RunFor(Millis(1));
  EXPECT_EQ(trims.fabric().stats().trims, 2u);
  FabricRig marks(Star(40), {.mark_min = Bytes(20'000), .mark_max = Bytes(20'000)});
  const LinkId slow = marks.LinkBetween(41, 40);
  marks.fabric().SetRate(marks.now(), slow, 0.5, true);
  Burst(marks, 40);
  marks.RunFor(Millis(1));
  EXPECT_EQ(marks.fabric().stats().marks, 28u);
  // Back at its own rate, 38, 37 ... are behind each again: 18 times more than 20.
  marks.fabric().SetRate(marks.now(), slow, 1, true);
  Burst(marks, 40);
  marks.RunFor(Millis(1));
  EXPECT_EQ(marks.fabric().stats().marks, 28u + 18u);
}

TEST(FabricTest, DropsWhatMayNotBeTrimmed) {
  FabricRig rig(Star(13), {.queue_limit = Bytes(10'000), .trimming = true});
  Burst(rig, 13, {.trimmable = false});
  rig.RunFor(Millis(1));
  EXPECT_EQ(rig.arrivals().size(), 11u);
  EXPECT_EQ(rig.fabric().stats().dropped, 2u);
  EXPECT_EQ(rig.held(), 0u);
}

TEST(FabricTest, ATrimInsideTheFabricIsNotOneAtTheLastHop) {
  FabricRig rig(Dumbbell({.pairs = 4, .rate = kRate, .bottleneck = Gbps(10), .delay = kDelay}),
                {.queue_limit = Bytes(2'000), .trimming = true});
  for (uint32_t h = 0; h < 4; ++h) rig.Send({.from = h, .to = 4 + h});
  rig.RunFor(Millis(1));
  ASSERT_EQ(rig.arrivals().size(), 4u);
  EXPECT_EQ(rig.fabric().stats().trims, 1u);  // one leaves, two wait
  for (const Arrival& a : rig.arrivals()) EXPECT_FALSE(a.trimmed_last_hop);
}

TEST(FabricTest, ControlHasItsOwnLimit) {
  FabricRig rig(Star(13), {.control_limit = Bytes(500)});
  Burst(rig, 13, {.wire = 100, .cls = FrameClass::kControl});
  rig.RunFor(Millis(1));
  EXPECT_EQ(rig.arrivals().size(), 6u);  // one leaves, five of 100 B wait
}

// 39 of 40 packets wait. As they leave, 38, 37 ... 0 are behind them: 28 times more than 10.
TEST(FabricTest, AStepMarksWhatLeavesALongQueue) {
  FabricRig rig(Star(40), {.mark_min = Bytes(10'000), .mark_max = Bytes(10'000)});
  Burst(rig, 40);
  rig.RunFor(Millis(1));
  EXPECT_EQ(rig.fabric().stats().marks, 28u);
  for (size_t i = 0; i < 40; ++i) EXPECT_EQ(rig.arrivals()[i].marked, i >= 1 && i <= 28) << i;
}

// As they arrive, 1, 2 ... 39 wait with the new one: 29 times more than 10.
TEST(FabricTest, AStepOnArrivalCountsTheArrival) {
  FabricRig rig(Star(40),
                {.mark_min = Bytes(10'000), .mark_max = Bytes(10'000), .mark_on_enqueue = true});
  Burst(rig, 40);
  rig.RunFor(Millis(1));
  EXPECT_EQ(rig.fabric().stats().marks, 29u);
}

TEST(FabricTest, OnlyCapablePacketsAreMarked) {
  FabricRig rig(Star(40), {.mark_min = Bytes(0), .mark_max = Bytes(0)});
  Burst(rig, 40, {.ecn = false});
  rig.RunFor(Millis(1));
  EXPECT_EQ(rig.fabric().stats().marks, 0u);
}

// With b packets behind: p = 0.5 (b - 10) / 20 from 10 to 30, then 1.
TEST(FabricTest, TheRampMarksInProportion) {
  FabricRig rig(Star(40),
                {.mark_min = Bytes(10'000), .mark_max = Bytes(30'000), .mark_probability = 0.5});
  constexpr int kRounds = 1000;
  int marks[40] = {};
  for (int round = 0; round < kRounds; ++round) {
    rig.arrivals().clear();
    Burst(rig, 40);
    rig.RunFor(Micros(10));
    for (size_t i = 1; i < 40; ++i) marks[39 - i] += rig.arrivals()[i].marked ? 1 : 0;
  }
  for (int behind = 0; behind < 39; ++behind) {
    const double p = behind <= 10 ? 0 : behind > 30 ? 1 : 0.5 * (behind - 10) / 20;
    const double sigma = std::sqrt(kRounds * p * (1 - p));
    EXPECT_NEAR(marks[behind], kRounds * p, 4 * sigma + 1e-9) << behind;
  }
}

TEST(FabricTest, TheLastHopMayBeLeftUnmarked) {
  const SwitchConfig config{.mark_min = Bytes(0), .mark_max = Bytes(0), .mark_last_hop = false};
  FabricRig star(Star(40), config);
  Burst(star, 40);
  star.RunFor(Millis(1));
  EXPECT_EQ(star.fabric().stats().marks, 0u);
  FabricRig dumbbell(Dumbbell({.pairs = 4, .rate = kRate, .bottleneck = kRate}), config);
  for (uint32_t h = 0; h < 4; ++h) dumbbell.Send({.from = h, .to = 4 + h});
  dumbbell.RunFor(Millis(1));
  EXPECT_EQ(dumbbell.fabric().stats().marks, 2u);  // with 2, 1, 0 behind
}

TEST(FabricTest, ControlOvertakesAllData) {
  FabricRig rig(Star(2));
  for (int i = 0; i < 20; ++i) rig.Send({.from = 0, .to = 2});
  rig.RunFor(kDelay + Nanos(500));  // six have arrived at the switch
  for (int i = 0; i < 20; ++i) rig.Send({.from = 1, .to = 2});
  const uint32_t control = rig.Send({.from = 1, .to = 2, .wire = 100, .cls = FrameClass::kControl});
  rig.RunFor(Millis(1));
  // At its own host it waits for the first only (80 ns, then 8); at the switch for one at most.
  for (const Arrival& a : rig.arrivals()) {
    if (a.sequence != control) continue;
    EXPECT_LE(a.at, Time(0) + 3 * kDelay + Nanos(500 + 80 + 8 + 80 + 8));
  }
  EXPECT_EQ(rig.arrivals().size(), 41u);
}

// One queue of a 40 kB buffer may have alpha times what is free: q + 1 <= 40 - q, so q ends at 20.
TEST(FabricTest, AQueueMayHaveAsMuchAsIsFree) {
  FabricRig rig(Star(40), {.buffer = Bytes(40'000), .alpha = 1.0});
  Burst(rig, 40);
  rig.RunFor(Millis(1));
  EXPECT_EQ(rig.arrivals().size(), 21u);  // and one that left at once
  EXPECT_EQ(rig.Port(41, 40).queue_peak, Bytes(20'000));
}

// Two queues of one buffer: q + 1 <= 40 - 2q, a third each.
TEST(FabricTest, TwoQueuesShareTheBuffer) {
  FabricRig rig(Star(41), {.buffer = Bytes(40'000), .alpha = 1.0});
  for (uint32_t h = 0; h < 40; ++h) rig.Send({.from = h, .to = 40 + h % 2});
  rig.RunFor(Millis(1));
  for (const uint32_t to : {40u, 41u}) {
    EXPECT_GE(rig.Port(42, to).queue_peak, Bytes(13'000));
    EXPECT_LE(rig.Port(42, to).queue_peak, Bytes(14'000));
  }
}

// What has left one queue is free for another at that moment, although the packets are still on a
// link of 50 us.
TEST(FabricTest, TheBufferIsFreedAsPacketsLeave) {
  FabricRig rig(SingleBottleneck({.senders = 80, .rate = kRate, .delay = Micros(50)}),
                {.buffer = Bytes(40'000), .alpha = 1.0});
  for (uint32_t h = 0; h < 40; ++h) rig.Send({.from = h, .to = 79});
  rig.RunFor(Nanos(1'700));  // 21 packets take 1680 ns
  for (uint32_t h = 40; h < 79; ++h) rig.Send({.from = h, .to = 80});
  rig.RunFor(Millis(1));
  EXPECT_EQ(rig.Port(81, 79).queue_peak, Bytes(20'000));
  EXPECT_EQ(rig.Port(81, 80).queue_peak, Bytes(20'000));
}

// Of a lossless buffer a queue may have all, whatever share alpha gives a lossy one.
TEST(FabricTest, ALosslessQueueMayHaveTheWholeBuffer) {
  FabricRig rig(Star(40),
                {.buffer = Bytes(40'000), .alpha = 1.0, .pfc = true, .pfc_xoff = KiB(99)});
  Burst(rig, 40);
  rig.RunFor(Millis(1));
  EXPECT_EQ(rig.arrivals().size(), 40u);
  EXPECT_EQ(rig.fabric().stats().dropped, 0u);
}

// 8 senders of 200 packets each into one link, with 20 kB for each input: all wait, none is lost.
TEST(FabricTest, PausingLosesNothingAndEnds) {
  FabricRig rig(Star(8), {.buffer = MiB(1), .pfc = true, .pfc_xoff = Bytes(20'000)});
  for (int i = 0; i < 200; ++i) Burst(rig, 8);
  rig.RunFor(Micros(10));
  EXPECT_TRUE(rig.fabric().HostPaused(0));
  rig.RunFor(Millis(5));
  EXPECT_EQ(rig.arrivals().size(), 1600u);
  EXPECT_EQ(rig.fabric().stats().dropped, 0u);
  for (uint32_t h = 0; h < 8; ++h) {
    EXPECT_FALSE(rig.fabric().HostPaused(h));
    EXPECT_GT(rig.Port(h, 9).pauses, 0u);
    EXPECT_GT(rig.Port(h, 9).paused, Duration(0));
  }
  // 20 kB and what arrives until the pause has effect: 2 us of 100 Gb/s and two packets, each.
  EXPECT_LE(rig.Port(9, 8).queue_peak, 8 * Bytes(20'000 + 25'000 + 2'000));
  // The link that all wait for is never idle: 1600 packets of 80 ns after the first one's arrival.
  EXPECT_EQ(rig.arrivals().back().at, Time(0) + Nanos(80) + kDelay + 1600 * Nanos(80) + kDelay);
}

TEST(FabricTest, PausingSpreadsFromSwitchToSwitch) {
  FabricRig rig(Dumbbell({.pairs = 4, .rate = kRate, .bottleneck = Gbps(400), .delay = kDelay}),
                {.buffer = MiB(1), .pfc = true, .pfc_xoff = Bytes(20'000)});
  for (int i = 0; i < 200; ++i) {
    for (uint32_t h = 0; h < 4; ++h) rig.Send({.from = h, .to = 4});
  }
  rig.RunFor(Millis(5));
  EXPECT_EQ(rig.arrivals().size(), 800u);
  EXPECT_GT(rig.Port(8, 9).pauses, 0u);  // between the switches
  EXPECT_GT(rig.Port(0, 8).pauses, 0u);  // and back to the hosts
  EXPECT_EQ(rig.held(), 0u);
}

}  // namespace
}  // namespace weir
