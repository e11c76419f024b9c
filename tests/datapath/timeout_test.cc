// What silence does, ours and the peer's.
#include <algorithm>

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

}  // namespace
}  // namespace weir
