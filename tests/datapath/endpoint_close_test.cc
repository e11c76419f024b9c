// How connections end, and that a slot begins anew.
#include "datapath/endpoint.h"
#include "gtest/gtest.h"
#include "tests/support/pipe.h"

namespace weir {
namespace {

const Binding kNone = Bind("none");

// Loses the first packets of a type from `side`.
auto Lose(int side, PacketType type, int most) {
  return [=](const Sight& s) {
    return Fate{.copies = s.from == side && s.info.type == type && s.nth < most ? 0 : 1};
  };
}

TEST(EndpointCloseTest, ClosingSendsFirstWhatWasPosted) {
  Pipe pipe;
  const WireId id = pipe.Open(kNone);
  ASSERT_TRUE(pipe[1].RegisterRegion(nullptr, MiB(16).count()).ok());
  ASSERT_TRUE(pipe[0].PostWrite(pipe.now(), id, {.length = 10'000'000}).ok());
  ASSERT_TRUE(pipe[0].Close(pipe.now(), id).ok());
  EXPECT_FALSE(pipe[0].PostWrite(pipe.now(), id, {.length = 1}).ok());
  pipe.Kick(0);
  pipe.RunFor(Millis(20));
  EXPECT_EQ(pipe.Count(0, Event::kSent), 1);
  EXPECT_EQ(pipe.Count(0, Event::kClosed), 1);
  EXPECT_EQ(pipe.Count(1, Event::kClosed, Cause::kClosedByPeer), 1);
  EXPECT_EQ(pipe[1].counters().data_bytes_received, 10'000'000u);
}

// What confirmed the connection was lost, so its end is the first that the other side hears of it.
TEST(EndpointCloseTest, ACloseMayBeTheFirstWord) {
  Pipe pipe;
  pipe.OnPacket(Lose(0, PacketType::kAck, 100));
  const WireId id = pipe.Open(kNone);
  ASSERT_TRUE(pipe[0].Close(pipe.now(), id).ok());
  pipe.Kick(0);
  pipe.RunFor(Millis(20));
  EXPECT_EQ(pipe.Count(1, Event::kAccepted), 1);
  EXPECT_EQ(pipe.Count(1, Event::kClosed, Cause::kClosedByPeer), 1);
  EXPECT_EQ(pipe.Count(0, Event::kClosed), 1);
}

// A message that takes longer than open_timeout is not a peer that does not answer.
TEST(EndpointCloseTest, DrainingMayTakeLongerThanClosing) {
  EndpointConfig hasty = PipeConfig();
  hasty.open_timeout = Millis(1);
  Pipe pipe(hasty, hasty);
  const WireId id = pipe.Open(kNone);
  ASSERT_TRUE(pipe[1].RegisterRegion(nullptr, MiB(64).count()).ok());
  ASSERT_TRUE(pipe[0].PostWrite(pipe.now(), id, {.length = 50'000'000}).ok());  // 4 ms and more
  ASSERT_TRUE(pipe[0].Close(pipe.now(), id).ok());
  pipe.Kick(0);
  pipe.RunFor(Millis(20));
  EXPECT_EQ(pipe.Count(0, Event::kClosed), 1);
}

TEST(EndpointCloseTest, BothMayCloseAtOnce) {
  Pipe pipe;
  const WireId id = pipe.Open(kNone);
  ASSERT_TRUE(pipe[0].Close(pipe.now(), id).ok());
  ASSERT_TRUE(pipe[1].Close(pipe.now(), pipe.accepted()).ok());
  pipe.Kick(0);
  pipe.Kick(1);
  pipe.RunFor(Millis(1));
  for (const int side : {0, 1}) {
    EXPECT_EQ(pipe.Count(side, Event::kClosed), 1);
    EXPECT_EQ(pipe[side].connections(), 0u);
  }
}

TEST(EndpointCloseTest, ClosesAlthoughCloseAndItsAnswerAreLost) {
  for (const auto& [side, type] : {std::pair(0, PacketType::kClose), {1, PacketType::kCloseAck}}) {
    Pipe pipe;
    const WireId id = pipe.Open(kNone);
    pipe.OnPacket(Lose(side, type, 2));
    ASSERT_TRUE(pipe[0].Close(pipe.now(), id).ok());
    pipe.Kick(0);
    pipe.RunFor(Millis(2));
    EXPECT_EQ(pipe.Count(0, Event::kClosed), 1);
    EXPECT_EQ(pipe.Count(1, Event::kClosed, Cause::kClosedByPeer), 1);
  }
}

TEST(EndpointCloseTest, AnAbortIsToldOnce) {
  Pipe pipe;
  const WireId id = pipe.Open(kNone);
  ASSERT_TRUE(pipe[0].Abort(pipe.now(), id).ok());
  pipe.Kick(0);
  pipe.RunFor(Millis(1));
  EXPECT_EQ(pipe.Count(0, Event::kFailed, Cause::kAborted), 1);
  EXPECT_EQ(pipe.Count(1, Event::kFailed, Cause::kAbortedByPeer), 1);
}

TEST(EndpointCloseTest, AStaleIdIsRefused) {
  Pipe pipe;
  const WireId first = pipe.Open(kNone);
  ASSERT_TRUE(pipe[0].Close(pipe.now(), first).ok());
  pipe.Kick(0);
  pipe.RunFor(Millis(1));
  const WireId second = pipe.Open(kNone);  // takes the same slot
  EXPECT_EQ(second.value & 0xFFFFF, first.value & 0xFFFFF);
  for (const WireId id : {first, WireId{0}, WireId{0xFFFF'FFFF}}) {
    EXPECT_EQ(pipe[0].PostSend(pipe.now(), id, {}).code(), absl::StatusCode::kNotFound);
    EXPECT_EQ(pipe[0].Close(pipe.now(), id).code(), absl::StatusCode::kNotFound);
    EXPECT_EQ(pipe[0].Abort(pipe.now(), id).code(), absl::StatusCode::kNotFound);
  }
  EXPECT_NE(pipe[0].Find(second), nullptr);
}

// Nothing of a slot's last use reaches the next: not its messages, numbers, buffers or round trips.
TEST(EndpointCloseTest, ASlotBeginsAnew) {
  Pipe pipe;
  for (int use = 0; use < 5; ++use) {
    const WireId id = pipe.Open(kNone);
    ASSERT_TRUE(pipe[1].PostReceive(pipe.now(), pipe.accepted(), {.capacity = 50'000}).ok());
    ASSERT_TRUE(pipe[1].PostReceive(pipe.now(), pipe.accepted(), {.capacity = 50'000}).ok());
    ASSERT_TRUE(pipe[0].PostSend(pipe.now(), id, {.length = 50'000}).ok());
    pipe.Kick(0);
    pipe.Kick(1);
    pipe.RunFor(Millis(1));
    EXPECT_EQ(pipe.Count(1, Event::kReceived), use + 1);
    EXPECT_EQ(pipe[0].Find(id)->sender.stats().packets, 13u);  // 50000 / 4096
    ASSERT_TRUE(
        (use % 2 == 0 ? pipe[0].Close(pipe.now(), id) : pipe[0].Abort(pipe.now(), id)).ok());
    pipe.Kick(0);
    pipe.RunFor(Millis(1));
    EXPECT_EQ(pipe[1].rx_messages_used(), 0u);
  }
}

// A copy of the open comes when all is over: what it makes ends with the peer's word.
TEST(EndpointCloseTest, ALateCopyOfAnOpenLeavesNothingBehind) {
  Pipe pipe;
  pipe.OnPacket(
      [](const Sight& s) { return Fate{.copies = s.info.type == PacketType::kOpen ? 2 : 1}; });
  const WireId id = pipe.Open(kNone);
  EXPECT_EQ(pipe[1].connections(), 1u);  // told apart by its nonce
  pipe.OnPacket({});
  EXPECT_EQ(pipe.Count(0, Event::kOpened), 1);
  ASSERT_TRUE(pipe[0].Close(pipe.now(), id).ok());
  pipe.Kick(0);
  pipe.RunFor(Millis(1));
  EXPECT_EQ(pipe[1].connections(), 0u);
}

// Closed and accepted again by a copy while the opener still holds the first: only one can stay.
TEST(EndpointCloseTest, ASecondAcceptOfOneOpenIsUndone) {
  Pipe pipe;
  pipe.OnPacket([](const Sight& s) {
    // The copy arrives after the abort.
    const bool open = s.info.type == PacketType::kOpen;
    return Fate{.copies = open || s.info.type != PacketType::kAbort ? 1 : 0};
  });
  const WireId id = pipe.Open(kNone);
  const uint64_t nonce = pipe[0].Find(id)->nonce;
  ASSERT_TRUE(pipe[1].Abort(pipe.now(), pipe.accepted()).ok());
  pipe.Kick(1);
  pipe.RunFor(Micros(100));  // the abort is lost
  // Side 0's open once more, as a copy in the network would be.
  std::array<std::byte, kFrameHeaderRoom> copy;
  OpenHeader h{.from = id, .nonce = nonce, .payload_max = 4096, .window = 4096};
  const uint32_t size =
      FrameWriter(Pipe::AddressOf(0), Pipe::AddressOf(1), 0).Write(h, 0, copy.data());
  pipe.OnPacket({});
  const Frame frame{.data = copy.data(), .size = size, .rx_time = pipe.now()};
  pipe[1].HandleRx(pipe.now(), {&frame, 1});
  pipe.Kick(1);
  pipe.RunFor(Millis(1));
  EXPECT_EQ(pipe.Count(1, Event::kFailed, Cause::kUnknownToPeer), 1);
  EXPECT_EQ(pipe[1].connections(), 0u);
}

}  // namespace
}  // namespace weir
