#include "testbed/virtual/world.h"

#include <vector>

#include "cc_algos/registry.h"
#include "gtest/gtest.h"
#include "lb_policies/registry.h"

namespace weir {
namespace {

Binding Plain() {
  const CcEntry* cc = FindCc("none");
  const LbEntry* lb = FindLb("ecmp");
  return {.cc = cc, .cc_config = cc->defaults(), .lb = lb, .lb_config = lb->defaults(), .paths = 4};
}
const Binding kPlain = Plain();

// Two hosts behind one switch, one connection between them.
class WorldTest : public testing::Test {
 protected:
  explicit WorldTest(const WorldConfig& config = {.packets_max = 4096, .tx_pages_max = 256})
      : world_(Shape(), config) {
    for (uint32_t h : {0u, 1u}) {
      world_.AddHost(h, {.binding = &kPlain, .base_rtt = Micros(6)});
    }
    world_.OnCompletion([this](uint32_t host, const Completion& c) {
      done_.push_back({host, c.event, world_.now()});
      if (c.event == Event::kAccepted) accepted_ = c.connection;
    });
    *world_.endpoint(1).RegisterRegion(nullptr, uint64_t{1} << 40);
    id_ = *world_.endpoint(0).Connect(world_.now(), world_.AddressOf(1), kPlain);
    world_.Kick(0);
    world_.RunFor(Micros(50));
  }
  static Topology Shape() { return SingleBottleneck({.senders = 1, .rate = Gbps(100)}); }
  void Write(uint32_t length) {
    ASSERT_TRUE(world_.endpoint(0).PostWrite(world_.now(), id_, {.length = length}).ok());
    world_.Kick(0);
  }
  // When host 0 heard last that a message was sent.
  Time SentAt() const {
    for (size_t i = done_.size(); i > 0; --i) {
      if (done_[i - 1].event == Event::kSent) return done_[i - 1].at;
    }
    return Time::Never();
  }

  struct Done {
    uint32_t host;
    Event event;
    Time at;
  };
  World world_;
  std::vector<Done> done_;
  WireId id_{};
  WireId accepted_{};
};

TEST_F(WorldTest, AMessageTakesTheBaseRtt) {
  const Time start = world_.now();
  Write(4096);
  world_.RunFor(Micros(50));
  // 4186 B of data and 106 B of acknowledgement, of which the receiver's copy reads one word.
  EXPECT_EQ(SentAt() - start, world_.BaseRtt(0, 1, Bytes(4186), Bytes(106)));
  EXPECT_EQ(world_.endpoint(0).Find(id_)->sender.rtt().latest(), SentAt() - start);
  // By hand: 335 ns twice, 9 ns twice, four links of a microsecond.
  EXPECT_EQ(SentAt() - start, Nanos(2 * 335 + 2 * 9 + 4'000));
}

TEST_F(WorldTest, IsQuietOnlyWhenAllHasEnded) {
  Write(100'000);
  world_.RunFor(Micros(2));
  EXPECT_EQ(world_.CheckConservation(), "");
  EXPECT_NE(world_.CheckQuiet(), "");  // packets on their way
  world_.RunFor(Millis(1));
  EXPECT_NE(world_.CheckQuiet(), "");  // an open connection
  ASSERT_TRUE(world_.endpoint(0).Close(world_.now(), id_).ok());
  world_.Kick(0);
  world_.RunFor(Millis(1));
  EXPECT_EQ(world_.CheckQuiet(), "");
}

// A host that stands still hears and says nothing; then it goes on where it was.
TEST_F(WorldTest, AStalledHostDoesNothing) {
  const Time start = world_.now();
  world_.Stall(1, start + Micros(40));
  Write(4096);
  world_.RunUntil(start + Micros(39));
  EXPECT_EQ(SentAt(), Time::Never());
  world_.RunUntil(start + Micros(45));
  EXPECT_GT(SentAt(), start + Micros(40));
}

// A kick does not wake it early, nor does it make it sleep on.
TEST_F(WorldTest, AKickDoesNotEndAStall) {
  const Time start = world_.now();
  world_.Stall(0, start + Micros(40));
  Write(4096);
  world_.RunUntil(start + Micros(39));
  EXPECT_EQ(world_.endpoint(0).counters().data_packets_sent, 0u);
  world_.RunUntil(start + Micros(41));
  EXPECT_EQ(world_.endpoint(0).counters().data_packets_sent, 1u);
}

TEST_F(WorldTest, AShorterStallDoesNotEndALongerOne) {
  const Time start = world_.now();
  world_.Stall(0, start + Micros(40));
  world_.Stall(0, start + Micros(10));
  Write(4096);
  world_.RunUntil(start + Micros(39));
  EXPECT_EQ(world_.endpoint(0).counters().data_packets_sent, 0u);
  world_.Stall(0, Time::Never());
  world_.RunFor(Millis(10));
  EXPECT_EQ(world_.endpoint(0).counters().data_packets_sent, 0u);
}

TEST_F(WorldTest, TimersOfTheUserFireInOrder) {
  std::vector<std::pair<uint32_t, Time>> fired;
  world_.OnTimer([&](uint32_t timer) { fired.emplace_back(timer, world_.now()); });
  const Time start = world_.now();
  world_.SetTimer(3, start + Micros(2));
  world_.SetTimer(1, start + Micros(1));
  world_.SetTimer(2, start + Micros(2));
  world_.RunFor(Micros(5));
  ASSERT_EQ(fired.size(), 3u);
  EXPECT_EQ(fired[0], std::pair(1u, start + Micros(1)));
  EXPECT_EQ(fired[1], std::pair(3u, start + Micros(2)));
  EXPECT_EQ(fired[2], std::pair(2u, start + Micros(2)));
  EXPECT_EQ(world_.now(), start + Micros(5));
}

// The host's ring is short: a message of 2500 packets waits in the endpoint, not in the port.
TEST_F(WorldTest, APausedHostHoldsItsFramesBack) {
  world_.fabric().SetRate(world_.now(), 0, 0.01);  // 1 Gb/s for a port that believes in 100
  Write(10'000'000);
  for (int i = 0; i < 50; ++i) {
    world_.RunFor(Micros(20));
    ASSERT_LE(world_.fabric().HostQueue(world_.now(), 0), SimPort::kRing);
  }
  EXPECT_EQ(world_.CheckConservation(), "");
}

TEST_F(WorldTest, CountersAddUp) {
  Write(40'960);
  world_.RunFor(Millis(1));
  const Counters total = world_.TotalCounters();
  EXPECT_EQ(total.data_packets_sent, 10u);
  EXPECT_EQ(total.data_packets_received, 10u);
  EXPECT_EQ(total.acks_sent,
            world_.endpoint(0).counters().acks_sent + world_.endpoint(1).counters().acks_sent);
}

// The digest is of what happened, and of nothing else.
TEST(WorldDigestTest, RepeatsWithTheSeedAndDiffersWithoutIt) {
  const auto digest = [](uint64_t seed, uint32_t length) {
    World world(SingleBottleneck({.senders = 1}),
                {.seed = seed, .packets_max = 4096, .tx_pages_max = 256});
    for (uint32_t h : {0u, 1u}) world.AddHost(h, {.binding = &kPlain, .base_rtt = Micros(6)});
    *world.endpoint(1).RegisterRegion(nullptr, uint64_t{1} << 40);
    const WireId id = *world.endpoint(0).Connect(world.now(), world.AddressOf(1), kPlain);
    world.Kick(0);
    world.RunFor(Micros(50));
    EXPECT_TRUE(world.endpoint(0).PostWrite(world.now(), id, {.length = length}).ok());
    world.Kick(0);
    world.RunFor(Millis(1));
    return world.digest();
  };
  EXPECT_EQ(digest(1, 100'000), digest(1, 100'000));
  EXPECT_NE(digest(1, 100'000), digest(1, 104'096));
}

// The path of 8 hosts in two pods: six links, the longest way; two within a leaf.
TEST(WorldDigestTest, TheBaseRttFollowsTheRoute) {
  const World world(FatTree({.pods = 2,
                             .leaves_per_pod = 2,
                             .aggs_per_pod = 2,
                             .hosts_per_leaf = 2,
                             .cores = 4,
                             .rate = Gbps(100),
                             .delay = Micros(1)}),
                    {.packets_max = 1, .tx_pages_max = 1});
  // 1250 B take 100 ns, 125 B take 10 ns, on every link.
  EXPECT_EQ(world.BaseRtt(0, 1, Bytes(1250), Bytes(125)), 2 * (2 * Micros(1) + Nanos(110)));
  EXPECT_EQ(world.BaseRtt(0, 7, Bytes(1250), Bytes(125)), 6 * (2 * Micros(1) + Nanos(110)));
}

}  // namespace
}  // namespace weir
