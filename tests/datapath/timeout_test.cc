// What silence does, ours and the peer's.
#include <algorithm>
#include <array>

#include "tests/support/pipe_fixture.h"

namespace weir {
namespace {

class TimeoutTest : public PipeFixture {};

// The floor is 2 * 12 + 12 + 12 = 48 us; it doubles six times. Nine in a row are too many.
TEST_F(TimeoutTest, TimeoutsBackOffAndEnd) {
  Open(Record(log_));
  pipe_->OnPacket([](const Sight& s) { return Fate{.copies = s.from == 0 ? 0 : 1}; });
  Write(1);
  pipe_->RunFor(Seconds(1));
  ASSERT_EQ(log_.timeouts.size(), 9u);
  Time due = start_;
  for (int i = 0; i < 9; ++i) {
    due = due + Micros(48) * (int64_t{1} << std::min(i, 6));
    EXPECT_EQ(log_.timeouts[static_cast<size_t>(i)].now, due) << i;
    EXPECT_EQ(log_.timeouts[static_cast<size_t>(i)].consecutive, i + 1);
    EXPECT_EQ(log_.timeouts[static_cast<size_t>(i)].lost, kPacket);
  }
  EXPECT_EQ(pipe_->Count(0, Event::kFailed, Cause::kStoppedAnswering), 1);
  EXPECT_EQ((*pipe_)[0].tx_messages_used(), 0u);
}

TEST_F(TimeoutTest, ProgressEndsTheBackOff) {
  Open(Record(log_));
  bool silent = true;
  pipe_->OnPacket([&](const Sight& s) { return Fate{.copies = s.from == 0 && silent ? 0 : 1}; });
  Write(1);
  pipe_->RunFor(Micros(48 + 96 + 10));
  silent = false;
  pipe_->RunFor(Millis(1));
  EXPECT_EQ(Completed(), 1);
  silent = true;
  Write(1);
  pipe_->RunFor(Micros(49));
  ASSERT_EQ(log_.timeouts.size(), 3u);
  EXPECT_EQ(log_.timeouts[2].consecutive, 1);
}

// We poll 200 us late. The time-out of 48 us is not the peer's silence, and the sample is none.
TEST_F(TimeoutTest, AHostStallMarksItsSamplesAndIsNoTimeout) {
  Open(Record(log_));
  Write(3);
  pipe_->RunFor(Micros(1));
  pipe_->Stall(0, pipe_->now() + Micros(200));
  pipe_->RunFor(Millis(1));
  EXPECT_EQ(counters().timeouts, 0u);
  EXPECT_EQ(counters().retransmitted_packets, 0u);
  EXPECT_EQ(counters().host_stalls, 1u);
  ASSERT_FALSE(log_.acks.empty());
  EXPECT_EQ(log_.acks[0].rtt, Duration(0));
  EXPECT_TRUE(log_.acks[0].host_stall);
  EXPECT_GE(counters().rtt_rejected, 1u);
}

// A stall with hundreds of acknowledgements in the port, of which a poll takes 32.
TEST_F(TimeoutTest, WhatWaitedDuringAStallIsHeardBeforeAnythingIsJudged) {
  Open(Record(log_, "round_robin", 16, kAckEach));
  Write(220);
  pipe_->RunFor(Micros(74));  // all have left
  pipe_->Stall(0, pipe_->now() + Micros(200));
  pipe_->RunFor(Millis(1));
  EXPECT_EQ(Completed(), 1);
  EXPECT_EQ(counters().retransmitted_packets, 0u);
  EXPECT_EQ(counters().host_stalls, 1u);
}

// Every poll of a slow host comes late, and there is always something to hear. Data and probes are
// lost for 100 ms: that is silence all the same, at most 20 ms later.
TEST_F(TimeoutTest, AHostThatIsAlwaysLateTimesOutAtMostTwentyMillisecondsLater) {
  const auto run = [&](Duration gap, std::vector<Time>& times) {
    log_ = {};
    EndpointConfig config = PipeConfig();
    config.patience = Seconds(1);
    Open(Record(log_), config);
    ASSERT_TRUE((*pipe_)[0].RegisterRegion(nullptr, 1).ok());
    pipe_->PollLate(0, gap);
    pipe_->OnPacket([](const Sight& s) {
      const bool lost = s.from == 0 &&
                        (s.info.type == PacketType::kData || s.info.type == PacketType::kProbe) &&
                        s.at < Time(0) + Millis(100);
      return Fate{.copies = lost ? 0 : 1};
    });
    Write(3);
    while (pipe_->now() < Time(0) + Millis(200)) {
      EXPECT_TRUE((*pipe_)[1].PostWrite(pipe_->now(), pipe_->accepted(), {.length = 1}).ok());
      pipe_->Kick(1);
      pipe_->RunFor(Micros(20));
    }
    EXPECT_EQ(Completed(), 1);
    for (const auto& t : log_.timeouts) times.push_back(t.now);
  };
  std::vector<Time> on_time;
  std::vector<Time> late;
  run(Duration(0), on_time);
  run(Micros(60), late);
  ASSERT_GT(on_time.size(), 4u);
  ASSERT_GT(late.size(), 3u);
  for (size_t i = 1; i < late.size(); ++i) {
    EXPECT_LE(late[i] - late[i - 1], on_time[i] - on_time[i - 1] + Millis(20)) << i;
  }
}

// Every poll brings a full burst, here of frames that are none of ours. Answers may wait behind
// them, but not for ever: 256 bursts later the time-out of 48 us comes all the same.
TEST_F(TimeoutTest, AHostThatIsAlwaysBusyTimesOutInTheEnd) {
  Open(Record(log_));
  OnData([](const Sight&) { return Fate{.copies = 0}; });
  Write(1);
  pipe_->RunFor(Micros(1));
  Endpoint& endpoint = (*pipe_)[0];
  std::array<std::byte, 64> junk{};
  std::array<Frame, kBurst> frames;
  frames.fill({.data = junk.data(), .size = junk.size()});
  Time now = pipe_->now();
  const auto poll = [&](int times) {
    for (int i = 0; i < times; ++i) {
      now = now + Micros(1);
      for (Frame& frame : frames) frame.rx_time = now;
      endpoint.HandleRx(now, frames);
      endpoint.HandleTimers(now);
    }
  };
  poll(250);
  EXPECT_EQ(counters().timeouts, 0u);
  poll(10);
  EXPECT_GE(counters().timeouts, 1u);
}

// The peer does not know when a probe came, but that it came: what is missing then was lost.
TEST_F(TimeoutTest, AProbeFindsLossesAtAPeerThatIsAlwaysLate) {
  Open(Record(log_));
  pipe_->PollLate(1, Micros(60));
  OnData([](const Sight& s) { return Fate{.copies = s.nth > 0 && s.nth < 3 ? 0 : 1}; });
  Write(3);
  pipe_->RunFor(Millis(1));
  EXPECT_EQ(Completed(), 1);
  EXPECT_EQ(counters().timeouts, 0u);
  EXPECT_EQ(counters().lost_by_time, 2u);
}

}  // namespace
}  // namespace weir
