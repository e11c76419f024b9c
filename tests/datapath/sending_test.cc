// When packets leave: window, rate, credit, and the samples that come of it.
#include <vector>

#include "tests/support/pipe_fixture.h"

namespace weir {
namespace {

class SendingTest : public PipeFixture {};

// 4186 B at 10 Gb/s are 3348.8 ns. The pacer is a microsecond in hand at first, and no packet adds
// to the rounding of the next.
TEST_F(SendingTest, PacingIsExact) {
  log_.allowance.rate = Gbps(10);
  Open(Record(log_));
  Write(500);
  pipe_->RunFor(Millis(3));
  const std::vector<Sight> data = Sent();
  ASSERT_EQ(data.size(), 500u);
  EXPECT_EQ(data[0].at, start_);
  for (int64_t n = 1; n < 500; ++n) {
    const Duration due = n * kPacket / Gbps(10) - Micros(1);
    ASSERT_EQ(data[static_cast<size_t>(n)].at, start_ + due) << n;
  }
}

TEST_F(SendingTest, WithoutARateTheLineIsTheLimit) {
  Open(Record(log_));
  Write(200);
  pipe_->RunFor(Micros(100));
  const std::vector<Sight> data = Sent();
  ASSERT_EQ(data.size(), 200u);
  EXPECT_EQ(data[199].at, start_ + 199 * kPacket / Gbps(100));
}

// A frame is handed over only while less than tx_slack waits before it.
TEST_F(SendingTest, ThePortsQueueStaysShort) {
  Open(Record(log_));
  Write(200);
  // Handed over at `now`, the packet leaves by now + 500 ns; the pipe polls exactly when asked.
  Time handed{};
  pipe_->OnPacket([&](const Sight& s) {
    EXPECT_LE(s.at - pipe_->now(), Nanos(500));
    handed = pipe_->now();
    return Fate{};
  });
  pipe_->RunFor(Micros(100));
  EXPECT_GT(handed, start_);
}

TEST_F(SendingTest, TheWindowBindsAlone) {
  log_.allowance.window = 3 * kPacket + Bytes(4185);  // a byte short of four
  Open(Record(log_));
  Write(40);
  pipe_->RunFor(Millis(1));
  ASSERT_EQ(log_.sends.size(), 40u);
  Bytes most{};
  for (const SendSample& s : log_.sends) most = std::max(most, s.in_flight);
  EXPECT_EQ(most, 3 * kPacket);
  for (const AckSample& a : log_.acks) {
    EXPECT_TRUE(a.limit == Limit::kWindow || a.limit == Limit::kApplication);
  }
  EXPECT_EQ(log_.acks[0].limit, Limit::kWindow);
}

TEST_F(SendingTest, AWindowBelowOnePacketLetsOneOut) {
  log_.allowance.window = Bytes(1);
  Open(Record(log_));
  Write(5);
  pipe_->RunFor(Millis(1));
  ASSERT_EQ(log_.sends.size(), 5u);
  for (const SendSample& s : log_.sends) EXPECT_EQ(s.in_flight, kPacket);
  // One a round trip, as each is acknowledged on request.
  EXPECT_EQ(log_.sends[4].now - log_.sends[0].now, 4 * kRtt);
}

TEST_F(SendingTest, TheRateBindsAlone) {
  log_.allowance.rate = Gbps(10);
  Open(Record(log_, "ecmp", 8, kAckEach));
  Write(40);
  pipe_->RunFor(Micros(100));
  EXPECT_EQ(sender().limit(), Limit::kPacer);
  // Three packets of 3.3 us in a round trip of 10.3 us, four with the microsecond in hand.
  for (const SendSample& s : log_.sends) EXPECT_LE(s.in_flight, 4 * kPacket);
}

TEST_F(SendingTest, WithoutCreditNothingLeavesButTheRequest) {
  log_.allowance.credit = kPacket - Bytes(1);
  log_.credit_wanted = Bytes(10'000);
  Open(Record(log_));
  Write(4);
  pipe_->RunFor(Micros(100));
  EXPECT_TRUE(log_.sends.empty());
  EXPECT_EQ(sender().limit(), Limit::kCredit);
  const std::vector<Sight> requests = Sent(PacketType::kCreditRequest);
  ASSERT_GE(requests.size(), 2u);
  EXPECT_EQ(requests[0].control.value, 40u);  // 10000 / 256, rounded up
  // A round trip (12 us, as none was measured) apart, then two, then four.
  EXPECT_EQ(requests[2].at - requests[1].at, 2 * (requests[1].at - requests[0].at));
}

// The receiver grants 0.99 of its line; the sender spends no more than a BDP and what it was given.
TEST_F(SendingTest, CreditBindsAlone) {
  const Binding credit = Bind("rccc");
  EndpointConfig config = PipeConfig(&credit);
  config.credit = credit.cc->receiver_half;
  config.credit_config = credit.cc_config;
  Open(credit, config);
  Bytes granted = Gbps(100) * Micros(12);  // what it may send unasked
  Bytes sent{};
  pipe_->OnPacket([&](const Sight& s) {
    if (s.info.type == PacketType::kData && s.from == 0) sent += kPacket;
    if (s.info.type == PacketType::kCredit)
      granted = std::max(granted, Gbps(100) * Micros(12) + Bytes(256) * s.control.value);
    if (s.info.type == PacketType::kAck && s.from == 1)
      granted = std::max(granted, Gbps(100) * Micros(12) + Bytes(256) * s.ack.credit);
    EXPECT_LE(sent, granted);
    return Fate{};
  });
  Write(500);
  pipe_->RunFor(Millis(1));
  EXPECT_EQ(Completed(), 1);
  EXPECT_GT(peer_counters().credits_sent, 0u);
}

TEST_F(SendingTest, LostCreditIsAskedForAgain) {
  const Binding credit = Bind("rccc");
  EndpointConfig config = PipeConfig(&credit);
  config.credit = credit.cc->receiver_half;
  config.credit_config = credit.cc_config;
  Open(credit, config);
  pipe_->OnPacket([&](const Sight& s) {
    const bool late = pipe_->now() > start_ + Micros(30) && pipe_->now() < start_ + Micros(60);
    return Fate{.copies = s.from == 1 && late ? 0 : 1};
  });
  Write(500);
  pipe_->RunFor(Millis(2));
  EXPECT_EQ(Completed(), 1);
}

TEST_F(SendingTest, AShortMessageIsLimitedByTheApplication) {
  Open(Record(log_));
  WriteBytes(100);
  pipe_->RunFor(Micros(50));
  ASSERT_EQ(log_.acks.size(), 1u);
  EXPECT_EQ(log_.acks[0].limit, Limit::kApplication);
  EXPECT_EQ(log_.resumes, 1);
  EXPECT_EQ(log_.idles, 1);
}

TEST_F(SendingTest, ARoundTripIsOneOfThePacketAndItsAcknowledgement) {
  Open(Record(log_));
  Write(1);
  pipe_->RunFor(Micros(50));
  ASSERT_EQ(log_.acks.size(), 1u);
  EXPECT_EQ(log_.acks[0].rtt, kRtt);
  EXPECT_EQ(log_.acks[0].newly_acked, kPacket);
  EXPECT_EQ(log_.acks[0].in_flight, Bytes(0));
}

// The peer polls 30 us late: its hold, not the network.
TEST_F(SendingTest, TheReceiversHoldIsTakenOut) {
  Open(Record(log_));
  pipe_->Stall(1, pipe_->now() + Micros(35));
  Write(1);
  pipe_->RunFor(Micros(60));
  ASSERT_EQ(log_.acks.size(), 1u);
  EXPECT_GT(log_.acks[0].now - start_, Micros(35));
  EXPECT_EQ(log_.acks[0].rtt, kRtt);
}

TEST_F(SendingTest, PacketsKeepTheirClass) {
  Open(Record(log_));
  pipe_->OnPacket([](const Sight& s) {
    return Fate{.copies = s.info.type == PacketType::kData && s.nth % 9 == 8 ? 0 : 1};
  });
  Write(100);
  pipe_->RunFor(Millis(1));
  for (const Sight& s : pipe_->sent()) {
    const bool data = s.info.type == PacketType::kData;
    const FrameClass expected = !data                 ? FrameClass::kControl
                                : s.data.attempt == 0 ? FrameClass::kData
                                                      : FrameClass::kRetransmit;
    ASSERT_EQ(s.cls, expected);
  }
  EXPECT_GT(counters().retransmitted_packets, 10u);
}

TEST_F(SendingTest, MarksComeBackByTheByte) {
  Open(Record(log_));
  pipe_->OnPacket([](const Sight& s) {
    return Fate{.mark = s.info.type == PacketType::kData && s.nth % 4 == 1};
  });
  Write(100);
  pipe_->RunFor(Millis(1));
  Bytes acked{}, marked{};
  for (const AckSample& a : log_.acks) acked += a.newly_acked, marked += a.newly_marked;
  EXPECT_EQ(acked, 100 * kPacket);
  EXPECT_EQ(marked, 25 * kPacket);
}

// All packets are marked for 67 us at 100 Gb/s; one CNP each 20 us: at 0, 20, 40 and 60.
TEST_F(SendingTest, CnpsComeAtTheirInterval) {
  Open(Record(log_, "ecmp", 8, {.cnp_interval = Micros(20)}));
  pipe_->OnPacket([](const Sight& s) { return Fate{.mark = s.info.type == PacketType::kData}; });
  Write(200);
  pipe_->RunFor(Millis(1));
  EXPECT_EQ(log_.cnps.size(), 4u);
}

// A round ends when data sent after its beginning is acknowledged: once a round trip.
TEST_F(SendingTest, RoundsFollowTheRoundTrip) {
  log_.allowance.window = 10 * kPacket;
  Open(Record(log_, "ecmp", 8, kAckEach));
  Write(100);
  pipe_->RunFor(Millis(1));
  // Ten windows of ten packets.
  EXPECT_NEAR(static_cast<double>(log_.acks.back().round), 10, 1);
  for (size_t i = 1; i < log_.acks.size(); ++i) {
    EXPECT_LE(log_.acks[i].round - log_.acks[i - 1].round, 1);
  }
}

// A connection that finds no record page looks again, although nothing of its own can wake it.
TEST_F(SendingTest, WaitsForARecordPage) {
  EndpointConfig config = PipeConfig();
  config.tx_pages_max = 1;
  Open(Record(log_), config);
  const Binding other = Bind("none");
  const WireId second = pipe_->Open(other);
  Write(20);
  ASSERT_TRUE((*pipe_)[0].PostWrite(pipe_->now(), second, {.length = 20 * kPayload}).ok());
  pipe_->RunFor(Millis(2));
  EXPECT_EQ(Completed(), 2);
  EXPECT_GT(counters().tx_pages_short, 0u);
}

// Everything in flight stays so; the new algorithm hears of it, and the new policy's rules hold.
TEST_F(SendingTest, AnotherAlgorithmTakesOverInFlight) {
  Open(Record(log_, "ecmp", 8));
  Write(300);
  pipe_->RunFor(Micros(20));
  CcLog other;
  const Binding next = Record(other, "round_robin", 3);
  ASSERT_TRUE((*pipe_)[0].Rebind(pipe_->now(), id_, next).ok());
  const size_t before = log_.acks.size();
  pipe_->RunFor(Millis(1));
  EXPECT_EQ(Completed(), 1);
  EXPECT_EQ(log_.acks.size(), before);
  EXPECT_FALSE(other.acks.empty());
  EXPECT_EQ(counters().retransmitted_packets, 0u);
  EXPECT_EQ(sender().in_flight(), Bytes(0));
}

}  // namespace
}  // namespace weir
