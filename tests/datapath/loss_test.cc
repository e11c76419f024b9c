// How losses are found and repaired, and what algorithm and policy hear of it.
#include <functional>
#include <vector>

#include "tests/support/pipe_fixture.h"

namespace weir {
namespace {

class LossTest : public PipeFixture {};

TEST_F(LossTest, NothingIsRepeatedOnACleanPipe) {
  Open(Record(log_));
  Write(1000);
  pipe_->RunFor(Millis(1));
  EXPECT_EQ(Completed(), 1);
  EXPECT_EQ(counters().retransmitted_packets, 0u);
  EXPECT_EQ(counters().probes_sent, 0u);
  EXPECT_TRUE(log_.losses.empty());
  EXPECT_EQ(sender().in_flight(), Bytes(0));
  EXPECT_EQ((*pipe_)[0].tx_pages_used(), 0u);
}

// The trimmed header (90 B) takes the place of the packet; its notice is repeated data's cue.
TEST_F(LossTest, ATrimIsRepairedOnceAndAtOnce) {
  Open(Record(log_));
  OnData([](const Sight& s) { return Fate{.trim = s.nth == 2}; });
  Write(10);
  pipe_->RunFor(Millis(1));
  const std::vector<Sight> data = Sent();
  ASSERT_EQ(data.size(), 11u);
  EXPECT_EQ(data[10].data.psn, data[2].data.psn);
  EXPECT_EQ(data[10].data.attempt, 1);
  // There: 335 ns and 5 us; the notice of 66 B: 6 ns and 5 us.
  EXPECT_EQ(data[10].at - data[2].at, Nanos(10'341));
  ASSERT_EQ(log_.losses.size(), 1u);
  EXPECT_EQ(log_.losses[0].cause, LossCause::kTrim);
  EXPECT_EQ(log_.losses[0].lost, kPacket);
  EXPECT_EQ(counters().lost_by_trim, 1u);
  EXPECT_EQ(peer_counters().duplicates_received, 0u);
}

// A packet comes trimmed while little of the rest is to be granted. The demand of those on their
// way knows nothing of that, and yet there is credit for all 101 packets in one piece: the last one
// does not leave a round trip after the others.
TEST_F(LossTest, CreditForATrimmedPacketDoesNotWaitForItsSender) {
  constexpr int kPackets = 100;
  constexpr int kTrimmed = 66;  // a round trip of 10.3 us before the end
  for (const char* algorithm : {"eqds", "rccc"}) {
    const Binding binding = Bind(algorithm, "ecmp", 8);
    EndpointConfig config = PipeConfig(&binding);
    config.credit = binding.cc->receiver_half;
    config.credit_config = binding.cc_config;
    Open(binding, config);
    OnData([](const Sight& s) { return Fate{.trim = s.nth == kTrimmed}; });
    Write(kPackets);
    pipe_->RunFor(Millis(1));
    const std::vector<Sight> data = Sent();
    ASSERT_EQ(data.size(), kPackets + 1u) << algorithm;
    for (size_t i = kTrimmed; i < kPackets; ++i) {
      EXPECT_LT(data[i + 1].at - data[i].at, kRtt / 4) << algorithm << " " << i;
    }
    EXPECT_EQ(Completed(), 1) << algorithm;
  }
}

TEST_F(LossTest, ATrimAtTheLastHopIsToldApart) {
  Open(Record(log_));
  OnData([](const Sight& s) {
    Fate fate{.trim = s.nth == 2, .mark = s.nth == 2};
    if (fate.trim) {
      fate.edit = [](std::vector<std::byte>& bytes) { SetFrameDscp(bytes, kDscpTrimmedLastHop); };
    }
    return fate;
  });
  Write(10);
  pipe_->RunFor(Millis(1));
  ASSERT_EQ(log_.losses.size(), 1u);
  EXPECT_EQ(log_.losses[0].cause, LossCause::kTrimLastHop);
  EXPECT_TRUE(log_.losses[0].marked);
}

// A copied notice names an attempt that was repaired already.
TEST_F(LossTest, ARepeatedNoticeChangesNothing) {
  Open(Record(log_));
  pipe_->OnPacket([](const Sight& s) {
    const bool data = s.info.type == PacketType::kData;
    return Fate{.copies = s.info.type == PacketType::kTrimNotice ? 3 : 1,
                .trim = data && s.nth == 2};
  });
  Write(10);
  pipe_->RunFor(Millis(1));
  EXPECT_EQ(counters().retransmitted_packets, 1u);
}

// One path is first in, first out: lost once packets sent three later are acknowledged.
TEST_F(LossTest, ThreeOvertakingPacketsOfThePathProveALoss) {
  Open(Record(log_, "ecmp", 8, kAckEach));
  OnData([](const Sight& s) { return Fate{.copies = s.nth == 5 ? 0 : 1}; });
  Write(20);
  pipe_->RunFor(Millis(1));
  ASSERT_EQ(log_.losses.size(), 1u);
  EXPECT_EQ(log_.losses[0].cause, LossCause::kOrder);
  EXPECT_EQ(log_.losses[0].lost, kPacket);
  // Packet 8's acknowledgement: one round trip after it left; its acknowledgement has two words at
  // most (122 B: 10 ns).
  const std::vector<Sight> data = Sent();
  const Duration after = log_.losses[0].now - data[8].at;
  EXPECT_GE(after, kRtt - Nanos(2));
  EXPECT_LE(after, kRtt + Nanos(2));
  EXPECT_EQ(data.size(), 21u);
}

// Two that overtook are not enough: then time decides, a quarter of the base RTT (3 us) later.
TEST_F(LossTest, TwoOvertakingPacketsAreNot) {
  Open(Record(log_, "ecmp", 8, kAckEach));
  OnData([](const Sight& s) { return Fate{.copies = s.nth == 5 ? 0 : 1}; });
  Write(8);
  pipe_->RunFor(Millis(1));
  ASSERT_EQ(log_.losses.size(), 1u);
  EXPECT_EQ(log_.losses[0].cause, LossCause::kTime);
  const Duration after = log_.losses[0].now - Sent()[5].at;
  EXPECT_GE(after, kRtt + Micros(3));
  EXPECT_LE(after, kRtt + Micros(4));
  EXPECT_EQ(counters().timeouts, 0u);
}

// A policy that sprays waits as long as the queues of a path may hold a packet: 20 us here.
TEST_F(LossTest, ReorderingInsideTheWindowIsNoLoss) {
  EndpointConfig config = PipeConfig();
  config.max_queue = Micros(20);
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Open(Record(log_, "round_robin", 16), config);
    Rng rng(seed);
    OnData([&](const Sight&) { return Fate{.extra = Nanos(rng.Below(20'000))}; });
    Write(500);
    pipe_->RunFor(Millis(3));
    EXPECT_EQ(Completed(), 1);
    EXPECT_EQ(counters().retransmitted_packets, 0u);
  }
}

TEST_F(LossTest, ReorderingBeyondTheWindowIsUndone) {
  EndpointConfig config = PipeConfig();
  config.max_queue = Micros(20);
  Open(Record(log_, "round_robin", 16, kAckEach), config);
  // 500 packets last 167 us. Sent at 33 us, due by 33 + 10 + 20, there at 33 + 5 + 60.
  OnData([](const Sight& s) { return Fate{.extra = s.nth == 100 ? Micros(60) : Duration(0)}; });
  Write(500);
  pipe_->RunFor(Millis(3));
  EXPECT_EQ(counters().lost_by_time, 1u);
  EXPECT_EQ(counters().retransmitted_packets, 1u);
  ASSERT_EQ(peer_counters().duplicates_received, 1u);
}

// The retransmission overtook the packet that was only late: whichever is acknowledged names its
// attempt, and the first attempt means that the loss was none.
TEST_F(LossTest, AnEarlyArrivalOfTheFirstAttemptIsSpurious) {
  Open(Record(log_, "ecmp", 8, kAckEach));
  // Late by 12 us: judged lost by order after one round trip, it comes 2 us later, while its
  // retransmission is still on the way.
  OnData([](const Sight& s) { return Fate{.extra = s.nth == 5 ? Micros(12) : Duration(0)}; });
  Write(100);
  pipe_->RunFor(Millis(1));
  ASSERT_EQ(log_.losses.size(), 1u);
  ASSERT_EQ(log_.spurious.size(), 1u);
  EXPECT_EQ(log_.spurious[0].bytes, kPacket);
  EXPECT_EQ(counters().spurious_retransmissions, 1u);
}

// The last packet is lost: nothing overtakes it. 2 1/2 round trips later a probe asks, its answer
// proves the loss, the repeated packet needs another round trip: 4 1/2 to 5 in all.
TEST_F(LossTest, ALostTailIsRepairedByAProbe) {
  for (const char* policy : {"ecmp", "round_robin"}) {
    Open(Record(log_, policy));
    OnData([](const Sight& s) { return Fate{.copies = s.nth == 9 ? 0 : 1}; });
    Write(10);
    pipe_->RunUntil(start_ + Nanos(3'349) + 5 * Micros(12));
    EXPECT_EQ(Completed(), 1) << policy;
    EXPECT_EQ(counters().probes_sent, 1u);
    EXPECT_EQ(counters().timeouts, 0u);
    EXPECT_EQ(counters().retransmitted_packets, 1u);
  }
}

// A whole window is lost, and nothing but probes comes through.
TEST_F(LossTest, ALostWindowIsRepairedByAProbe) {
  Open(Record(log_));
  OnData([](const Sight& s) { return Fate{.copies = s.nth < 20 ? 0 : 1}; });
  Write(20);
  pipe_->RunFor(Micros(100));
  EXPECT_EQ(Completed(), 1);
  EXPECT_EQ(counters().timeouts, 0u);
  EXPECT_EQ(counters().retransmitted_packets, 20u);
}

// A peer that goes on talking, yet about other things, does not hold up the repair.
TEST_F(LossTest, NewsWithoutProgressDoNotPutOffARepair) {
  Open(Record(log_));
  OnData([](const Sight& s) { return Fate{.copies = s.nth == 0 ? 0 : 1}; });
  Write(1);
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE((*pipe_)[1].PostReceive(pipe_->now(), pipe_->accepted(), {}).ok());
    pipe_->Kick(1);
    pipe_->RunFor(Micros(5));
  }
  EXPECT_EQ(Completed(), 1);
}

struct Pattern {
  const char* name;
  std::function<bool(const Sight&)> lost;
};
class EveryPattern : public LossTest, public testing::WithParamInterface<Pattern> {};

TEST_P(EveryPattern, IsRepairedWithoutATimeout) {
  for (const char* policy : {"ecmp", "flowlet", "round_robin", "reps"}) {
    SCOPED_TRACE(policy);
    Open(Record(log_, policy));
    pipe_->OnPacket([](const Sight& s) { return Fate{.copies = GetParam().lost(s) ? 0 : 1}; });
    Write(500);
    pipe_->RunFor(Millis(10));
    EXPECT_EQ(Completed(), 1);
    EXPECT_EQ(counters().timeouts, 0u);
    EXPECT_EQ(peer_counters().data_bytes_received, 500u * kPayload);
  }
}
INSTANTIATE_TEST_SUITE_P(Losses, EveryPattern,
                         testing::Values(Pattern{"EveryTenthPacket",
                                                 [](const Sight& s) {
                                                   return s.info.type == PacketType::kData &&
                                                          s.nth % 10 == 7;
                                                 }},
                                         Pattern{"EveryRetransmissionOnce",
                                                 [](const Sight& s) {
                                                   return s.info.type == PacketType::kData &&
                                                          (s.data.psn.value() % 10 == 7) &&
                                                          s.data.attempt < 2;
                                                 }},
                                         Pattern{"HalfOfAllAcknowledgements",
                                                 [](const Sight& s) {
                                                   return s.info.type == PacketType::kAck &&
                                                          s.from == 1 && s.nth % 2 == 1;
                                                 }}),
                         [](const auto& pattern) { return pattern.param.name; });

}  // namespace
}  // namespace weir
