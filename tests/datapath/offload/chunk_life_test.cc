// The RDMA mode over a model of queue pairs: how connections begin and end, well and not.
#include <gtest/gtest.h>

#include <string>

#include "datapath/offload/chunk_word.h"
#include "tests/support/chunk_rig.h"

namespace weir {
namespace {

Cause CauseOf(const ChunkRig& rig, int side, Event event) {
  for (const Completion& c : rig.completions[side]) {
    if (c.event == event) return c.cause;
  }
  ADD_FAILURE() << "no such event";
  return Cause::kNone;
}

class ChunkLifeTest : public testing::Test {
 protected:
  void OpenAndWrite() {
    rig.Open();
    rig.Write(1 << 20);
    rig.RunFor(Micros(20));
  }
  void RunToEnd() {
    rig.Run([&] { return rig.Ended(0) && rig.Ended(1); });
  }
  ChunkRig rig{ChunkBinding("swift", "round_robin")};
};

TEST_F(ChunkLifeTest, CloseSendsWhatWasPostedAndThePeerHearsOfIt) {
  OpenAndWrite();
  ASSERT_TRUE(rig.a().Close(rig.model.now(), rig.id).ok());
  EXPECT_FALSE(rig.a().PostWrite(rig.model.now(), rig.id, {.length = 1}).ok());
  RunToEnd();
  EXPECT_EQ(rig.Count(0, Event::kSent), 1);
  EXPECT_EQ(rig.Count(1, Event::kReceived), 1);
  EXPECT_EQ(CauseOf(rig, 0, Event::kClosed), Cause::kNone);
  EXPECT_EQ(CauseOf(rig, 1, Event::kClosed), Cause::kClosedByPeer);
  EXPECT_EQ(rig.a().connections() + rig.b().connections(), 0u);
}

TEST_F(ChunkLifeTest, BothMayCloseAtOnce) {
  rig.Open();
  const WireId other = rig.completions[1].front().connection;
  ASSERT_TRUE(rig.a().Close(rig.model.now(), rig.id).ok());
  ASSERT_TRUE(rig.b().Close(rig.model.now(), other).ok());
  RunToEnd();
  EXPECT_EQ(CauseOf(rig, 0, Event::kClosed), Cause::kNone);
  EXPECT_EQ(CauseOf(rig, 1, Event::kClosed), Cause::kNone);
}

TEST_F(ChunkLifeTest, AbortDropsWhatIsUnsentAndThePeerHearsOfIt) {
  OpenAndWrite();
  rig.Write(1 << 20);
  ASSERT_TRUE(rig.a().Abort(rig.model.now(), rig.id).ok());
  RunToEnd();
  EXPECT_EQ(rig.Count(0, Event::kSent), 0);
  EXPECT_EQ(CauseOf(rig, 0, Event::kFailed), Cause::kAborted);
  EXPECT_EQ(CauseOf(rig, 1, Event::kFailed), Cause::kAbortedByPeer);
  EXPECT_EQ(rig.a().messages_used() + rig.a().chunks_used(), 0u);
}

TEST_F(ChunkLifeTest, AFailedPairEndsTheConnectionWithItsCause) {
  OpenAndWrite();
  rig.model.Fail(3, Cause::kStoppedAnswering);
  rig.Write(1 << 20);
  rig.Run([&] { return rig.Ended(0); });
  EXPECT_EQ(CauseOf(rig, 0, Event::kFailed), Cause::kStoppedAnswering);
  EXPECT_EQ(rig.a().messages_used() + rig.a().chunks_used() + rig.a().connections(), 0u);
}

TEST_F(ChunkLifeTest, ASilentPairIsWaitedForAsLongAsPatienceLasts) {
  rig.Open();
  rig.model.Silence(1);
  const Time begin = rig.model.now();
  rig.Write(1 << 20);
  rig.Run([&] { return rig.Ended(0); });
  EXPECT_EQ(CauseOf(rig, 0, Event::kFailed), Cause::kStoppedAnswering);
  const Duration waited = rig.model.now() - begin;
  EXPECT_GT(waited, Seconds(5));
  EXPECT_LT(waited, Seconds(6));
}

TEST_F(ChunkLifeTest, ASlowSenderIsNoSilentPair) {
  Binding slow = ChunkBinding("none", "ecmp");
  for (const ParamSpec& p : slow.cc->params) {
    if (std::string(p.name) == "rate") p.set(slow.cc_config.data(), 50e3);  // 10 s for a chunk
  }
  ChunkRig patient(slow);
  patient.Open();
  patient.Write(4 * 64 * 1024);
  patient.Run([&] { return patient.Count(0, Event::kSent) == 1 || patient.Ended(0); });
  EXPECT_EQ(patient.Count(0, Event::kSent), 1);
}

TEST_F(ChunkLifeTest, APeerThatDoesNotAnswerIsWaitedForAsLongAsAnOpenMayTake) {
  rig.model.AnswerNoOpens();
  const auto id = rig.a().Connect(rig.model.now(), {}, *rig.a().config().binding);
  ASSERT_TRUE(id.ok());
  rig.Run([&] { return rig.Ended(0); });
  EXPECT_EQ(CauseOf(rig, 0, Event::kFailed), Cause::kNeverAnswered);
  EXPECT_EQ(rig.model.now() - Time{}, Seconds(1));
}

TEST_F(ChunkLifeTest, WhatCannotBeOpenedIsSaidAtOnce) {
  rig.model.RefuseOpens();
  const auto id = rig.a().Connect(rig.model.now(), {}, *rig.a().config().binding);
  ASSERT_FALSE(id.ok());
  EXPECT_EQ(id.status().message(), "no way to the peer");
}

TEST_F(ChunkLifeTest, WritesOutsideOfTheRegionAreRefused) {
  rig.Open();
  const auto write = [&](uint64_t address, uint32_t length, uint32_t region) {
    return rig.a().PostWrite(rig.model.now(), rig.id,
                             {.length = length, .region = region, .address = address});
  };
  EXPECT_TRUE(write((1 << 20) - 10, 10, 0).ok());
  EXPECT_EQ(write((1 << 20) - 10, 11, 0).message(),
            "write: 11 bytes at 1048566 are not within the peer's region 0, which has 1048576");
  EXPECT_FALSE(write(UINT64_MAX, 2, 0).ok());
  EXPECT_FALSE(write(0, 1, 1).ok());
}

TEST_F(ChunkLifeTest, RoomIsBoundedAndTheRemedySaid) {
  ChunkRig small(ChunkBinding("swift", "ecmp"), {}, {.messages_max = 2, .chunks_max = 3});
  small.Open();
  small.Write(1 << 20);
  small.Write(1 << 20);
  const absl::Status full =
      small.a().PostWrite(small.model.now(), small.id, {.length = 1 << 20, .notify = true});
  EXPECT_TRUE(absl::IsResourceExhausted(full)) << full.message();
  EXPECT_NE(full.message().find("messages_max"), absl::string_view::npos);
  small.Run([&] { return small.Count(0, Event::kSent) == 2; });
  EXPECT_EQ(small.Count(1, Event::kReceived), 2);
}

// A device that lies: nothing of it crashes, hangs, or reaches an algorithm.
TEST_F(ChunkLifeTest, EventsThatFitNothingAreCountedAndDropped) {
  OpenAndWrite();
  using Kind = ChunkEvent::Kind;
  const ChunkEvent lies[] = {
      {.kind = Kind::kDone, .link = 0, .cookie = 4},            // a record never used
      {.kind = Kind::kDone, .link = 0, .cookie = 0xFFFF'FFFF},  // none at all
      {.kind = Kind::kDone, .link = 0, .cookie = 77ull << 32},  // an earlier use
      {.kind = Kind::kDone, .link = 63, .cookie = 1ull << 32},  // of no link
      {.kind = Kind::kOpened, .link = 0},                       // twice
      {.kind = Kind::kAccepted, .link = 0},                     // twice
      {.kind = Kind::kArrived, .link = 63},                     // of no link
  };
  for (const ChunkEvent& lie : lies) rig.model.Inject(0, lie);
  rig.Run([&] { return rig.Count(0, Event::kSent) == 1; });
  EXPECT_EQ(rig.Count(1, Event::kReceived), 1);
  EXPECT_GE(rig.a().counters().strange_events, 4u);  // those of closed links do not get here
  EXPECT_FALSE(rig.Ended(0));
}

TEST_F(ChunkLifeTest, APeerWhoseWordsMakeNoSenseIsLeft) {
  rig.Open();
  const auto arrive = [&](uint16_t message, uint16_t chunks) {
    const ChunkWord word{.message = message, .chunks = chunks};
    rig.model.Inject(1, {.kind = ChunkEvent::Kind::kArrived, .word = word.Encode()});
  };
  arrive(5, 3);
  rig.RunFor(Micros(1));
  EXPECT_FALSE(rig.Ended(1));
  arrive(5, 4);  // the same message with another length
  rig.Run([&] { return rig.Ended(1); });
  EXPECT_EQ(CauseOf(rig, 1, Event::kFailed), Cause::kNonsense);
}

TEST_F(ChunkLifeTest, ATimeBeforeTheLastCounts) {
  OpenAndWrite();
  rig.a().Turn(Time(1));
  EXPECT_EQ(rig.a().counters().clock_steps_back, 1u);
}

TEST(ChunkEndpointTest, ValuesOutOfRangeAreNamed) {
  QueuePairModel model({});
  const auto error = [&](ChunkEndpointConfig config) {
    return std::string(ChunkEndpoint::Create(model.port(0), config).status().message());
  };
  EXPECT_EQ(error({}), "RDMA mode: line_rate and base_rtt must be above zero");
  EXPECT_EQ(error({.chunk_bytes = 1023, .base_rtt = Micros(1)}),
            "RDMA mode: chunk_bytes is 1023, allowed by the port is 1024 to 1073741824");
  EXPECT_EQ(error({.connections_max = 65, .base_rtt = Micros(1)}),
            "RDMA mode: connections_max is 65, allowed by the port is 1 to 64");
  const Binding marks = ChunkBinding("dctcp", "ecmp");
  EXPECT_NE(error({.binding = &marks, .base_rtt = Micros(1)}).find("mark echo"), std::string::npos);
}

}  // namespace
}  // namespace weir
