// How connections begin, and how they fail.
#include "datapath/endpoint.h"

#include <vector>

#include "gtest/gtest.h"
#include "tests/support/pipe.h"

namespace weir {
namespace {

const Binding kNone = Bind("none");

// Loses every packet from `side`.
auto Silence(int side) {
  return [side](const Sight& s) { return Fate{.copies = s.from == side ? 0 : 1}; };
}
auto Lose(int side, PacketType type, int most = 1) {
  return [=](const Sight& s) {
    return Fate{.copies = s.from == side && s.info.type == type && s.nth < most ? 0 : 1};
  };
}

TEST(EndpointTest, OpensAndTellsBothSides) {
  Pipe pipe;
  const WireId id = pipe.Open(kNone);
  EXPECT_EQ(pipe.Count(0, Event::kOpened), 1);
  EXPECT_EQ(pipe.Count(1, Event::kAccepted), 1);
  EXPECT_EQ(pipe[0].Find(id)->peer, pipe.accepted());
  EXPECT_EQ(pipe[1].Find(pipe.accepted())->peer, id);
  EXPECT_TRUE(pipe[1].Find(pipe.accepted())->confirmed);
}

TEST(EndpointTest, OpensAlthoughEachHandshakePacketIsLostOnce) {
  for (const auto& [side, type] :
       {std::pair(0, PacketType::kOpen), {1, PacketType::kAccept}, {0, PacketType::kAck}}) {
    SCOPED_TRACE(static_cast<int>(type));
    Pipe pipe;
    pipe.OnPacket(Lose(side, type));
    pipe.Open(kNone);
    pipe.RunFor(Millis(1));
    EXPECT_EQ(pipe.Count(0, Event::kOpened), 1);
    EXPECT_EQ(pipe.Count(1, Event::kAccepted), 1);
    EXPECT_EQ(pipe[1].connections(), 1u);
    EXPECT_TRUE(pipe[1].Find(pipe.accepted())->confirmed);
  }
}

TEST(EndpointTest, TakesTheSmallerPayloadOfBoth) {
  EndpointConfig small = PipeConfig();
  small.payload_max = 1024;
  Pipe pipe(PipeConfig(), small);
  const WireId id = pipe.Open(kNone);
  EXPECT_EQ(pipe[0].Find(id)->payload_max, 1024);
  EXPECT_EQ(pipe[1].Find(pipe.accepted())->payload_max, 1024);
}

TEST(EndpointTest, IsRefusedWhereNobodyListens) {
  EndpointConfig deaf = PipeConfig();
  deaf.listen = false;
  Pipe pipe(PipeConfig(), deaf);
  pipe.Open(kNone);
  EXPECT_EQ(pipe.Count(0, Event::kFailed, Cause::kNotListening), 1);
  EXPECT_EQ(pipe[0].connections(), 0u);
}

TEST(EndpointTest, IsRefusedWithoutRoom) {
  EndpointConfig one = PipeConfig();
  one.connections_max = 1;
  Pipe pipe(PipeConfig(), one);
  pipe.Open(kNone);
  pipe.Open(kNone);
  EXPECT_EQ(pipe.Count(0, Event::kOpened), 1);
  EXPECT_EQ(pipe.Count(0, Event::kFailed, Cause::kNoRoom), 1);
  EXPECT_EQ(pipe[0].connections(), 1u);
}

TEST(EndpointTest, IsRefusedInAnotherVersionAndToldWhich) {
  Pipe pipe;
  pipe.OnPacket([](const Sight& s) {
    Fate fate;
    if (s.info.type != PacketType::kOpen) return fate;
    fate.edit = [](std::vector<std::byte>& bytes) {
      bytes[42] = std::byte{0x21};  // version 2, and a checksum that fits
      const uint32_t crc = Crc32c(0, std::span(bytes).subspan(42, bytes.size() - 46));
      for (int i = 0; i < 4; ++i) {
        bytes[bytes.size() - 4 + static_cast<size_t>(i)] =
            static_cast<std::byte>(crc >> (24 - 8 * i));
      }
    };
    return fate;
  });
  pipe.Open(kNone);
  ASSERT_EQ(pipe.Count(0, Event::kFailed, Cause::kVersionMismatch), 1);
  EXPECT_EQ(pipe.completions(0)[0].detail, kWireVersion);
  EXPECT_EQ(pipe[1].counters().bad_versions, 1u);
}

TEST(EndpointTest, IsRefusedWithoutTheCreditSchedulerItNeeds) {
  Pipe pipe;  // side 1 runs none
  pipe.Open(Bind("rccc"));
  ASSERT_EQ(pipe.Count(0, Event::kFailed, Cause::kFeatureMismatch), 1);
  EXPECT_EQ(pipe.completions(0)[0].detail, Signals(Signal::kCredit).bits());
  EXPECT_EQ(pipe[1].connections(), 0u);
}

// The same the other way round: what accepts would use credit from us, and we run no scheduler.
TEST(EndpointTest, FailsWhereThePeerNeedsASchedulerOfOurs) {
  const Binding credit = Bind("rccc");
  Pipe pipe(PipeConfig(), PipeConfig(&credit));
  pipe.Open(kNone);
  EXPECT_EQ(pipe.Count(0, Event::kFailed, Cause::kFeatureMismatch), 1);
  EXPECT_EQ(pipe.Count(1, Event::kFailed, Cause::kAbortedByPeer), 1);
}

TEST(EndpointTest, NeverAnsweredIsReportedInTime) {
  Pipe pipe;
  pipe.OnPacket(Silence(0));
  const Time start = pipe.now();
  pipe.Open(kNone);
  pipe.RunUntil(start + Seconds(1) - Micros(1));
  EXPECT_TRUE(pipe.completions(0).empty());
  pipe.RunUntil(start + Seconds(1) + Micros(1));
  EXPECT_EQ(pipe.Count(0, Event::kFailed, Cause::kNeverAnswered), 1);
  EXPECT_EQ(pipe[0].connections(), 0u);
}

// A side that accepted and never hears that this was known does not keep the connection for ever.
// The application hears of a connection only when the peer has heard of it, too.
TEST(EndpointTest, AnAcceptThatNobodyHearsEndsUnnoticed) {
  Pipe pipe;
  pipe.OnPacket(Silence(1));
  pipe.Open(kNone);
  pipe.RunFor(Seconds(3));
  EXPECT_EQ(pipe.Count(0, Event::kFailed, Cause::kNeverAnswered), 1);
  EXPECT_EQ(pipe.Count(1, Event::kAccepted), 0);
  EXPECT_EQ(pipe.Count(1, Event::kFailed), 0);
  EXPECT_EQ(pipe[1].connections(), 0u);
}

// A link on the way carries less than both ends can: the open itself shows it, on either way.
TEST(EndpointTest, TheOpenFindsThePayloadThatFitsTheWay) {
  for (const int narrow : {0, 1}) {
    EndpointConfig config = PipeConfig();
    config.verify_payload = true;
    Pipe pipe(config, config);
    pipe.OnPacket([narrow](const Sight& s) {
      return Fate{.copies = s.from == narrow && s.info.packet.size() > 1500 ? 0 : 1};
    });
    const WireId id = pipe.Open(kNone);
    pipe.RunFor(Millis(900));
    EXPECT_EQ(pipe.Count(0, Event::kOpened), 1);
    EXPECT_EQ(pipe.Count(1, Event::kAccepted), 1);
    ASSERT_NE(pipe[0].Find(id), nullptr);
    EXPECT_EQ(pipe[0].Find(id)->payload_max, 1408);
    EXPECT_EQ(pipe[1].Find(pipe[0].Find(id)->peer)->payload_max, 1408);
    ASSERT_TRUE(pipe[1].RegisterRegion(nullptr, 100'000).ok());
    ASSERT_TRUE(pipe[0].PostWrite(pipe.now(), id, {.length = 100'000}).ok());
    pipe.Kick(0);
    pipe.RunFor(Millis(1));
    EXPECT_EQ(pipe.Count(0, Event::kSent), 1);
  }
}

TEST(EndpointTest, APeerThatOwesNothingIsAskedForALifeSign) {
  EndpointConfig config = PipeConfig();
  config.keepalive = Millis(1);
  Pipe pipe(PipeConfig(), config);
  pipe.Open(kNone);
  pipe.RunFor(Millis(20));
  EXPECT_EQ(pipe[1].connections(), 1u);
  pipe.OnPacket(Silence(0));
  pipe.RunFor(Millis(100));
  EXPECT_EQ(pipe.Count(1, Event::kFailed, Cause::kStoppedAnswering), 1);
}

// Probes are answered, and no data gets there: a way that is too narrow, or a filter.
TEST(EndpointTest, APeerThatAnswersButGetsNoDataIsGivenUpInTime) {
  EndpointConfig config = PipeConfig();
  config.patience = Millis(50);
  Pipe pipe(config, config);
  const WireId id = pipe.Open(kNone);
  ASSERT_TRUE(pipe[1].RegisterRegion(nullptr, 100'000).ok());
  pipe.OnPacket([](const Sight& s) {
    return Fate{.copies = s.info.type == PacketType::kData ? 0 : 1};
  });
  ASSERT_TRUE(pipe[0].PostWrite(pipe.now(), id, {.length = 100'000}).ok());
  pipe.Kick(0);
  pipe.RunFor(Millis(45));
  EXPECT_EQ(pipe[0].connections(), 1u);
  pipe.RunFor(Millis(20));
  EXPECT_EQ(pipe.Count(0, Event::kFailed, Cause::kStoppedAnswering), 1);
}

TEST(EndpointTest, PatienceOutlastsTheRetries) {
  EndpointConfig config = PipeConfig();
  config.patience = Seconds(2);
  Pipe pipe(config, config);
  const WireId id = pipe.Open(kNone);
  ASSERT_TRUE(pipe[1].RegisterRegion(nullptr, 100'000).ok());
  pipe.OnPacket(Silence(1));
  ASSERT_TRUE(pipe[0].PostWrite(pipe.now(), id, {.length = 100'000}).ok());
  pipe.Kick(0);
  pipe.RunFor(Millis(1'900));
  EXPECT_EQ(pipe[0].connections(), 1u);
  pipe.RunFor(Millis(200));
  EXPECT_EQ(pipe.Count(0, Event::kFailed, Cause::kStoppedAnswering), 1);
}

TEST(EndpointTest, APeerThatStopsAnsweringIsNoticed) {
  Pipe pipe;
  const WireId id = pipe.Open(kNone);
  ASSERT_TRUE(pipe[1].RegisterRegion(nullptr, 100'000).ok());
  pipe.OnPacket(Silence(1));
  ASSERT_TRUE(pipe[0].PostWrite(pipe.now(), id, {.length = 100'000}).ok());
  pipe.RunFor(Seconds(1));
  EXPECT_EQ(pipe.Count(0, Event::kFailed, Cause::kStoppedAnswering), 1);
  EXPECT_EQ(pipe[0].tx_messages_used(), 0u);
  EXPECT_EQ(pipe[0].tx_pages_used(), 0u);
  // The last word was an abort.
  EXPECT_EQ(pipe.Count(1, Event::kFailed, Cause::kAbortedByPeer), 1);
}

TEST(EndpointTest, APeerThatRestartedSaysThatItDoesNotKnowUs) {
  Pipe pipe;
  const WireId id = pipe.Open(kNone);
  pipe.Restart(1);
  ASSERT_TRUE(pipe[0].PostWrite(pipe.now(), id, {.length = 100}).ok());
  pipe.Kick(0);
  // The probe goes out after 2.5 round trips of 12 us, the answer takes one.
  pipe.RunFor(Micros(60));
  EXPECT_EQ(pipe.Count(0, Event::kFailed, Cause::kUnknownToPeer), 1);
}

TEST(EndpointTest, RebindingWaitsForTheOpen) {
  Pipe pipe;
  const WireId id = *pipe[0].Connect(pipe.now(), Pipe::AddressOf(1), kNone);
  EXPECT_EQ(pipe[0].Rebind(pipe.now(), id, kNone).code(), absl::StatusCode::kFailedPrecondition);
  pipe.Kick(0);
  pipe.RunFor(Micros(50));
  const Binding other = Bind("dctcp", "round_robin");
  EXPECT_TRUE(pipe[0].Rebind(pipe.now(), id, other).ok());
  const Binding credit = Bind("rccc");
  EXPECT_EQ(pipe[0].Rebind(pipe.now(), id, credit).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(pipe[0].Find(id)->binding, &other);
}

}  // namespace
}  // namespace weir
