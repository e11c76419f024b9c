// Messages from memory to memory, and what may not happen to it.
#include <cstring>
#include <vector>

#include "datapath/endpoint.h"
#include "gtest/gtest.h"
#include "tests/support/pipe.h"

namespace weir {
namespace {

const Binding kNone = Bind("none");

std::vector<std::byte> Pattern(uint32_t size) {
  std::vector<std::byte> bytes(size);
  Rng rng(size);
  for (std::byte& b : bytes) b = static_cast<std::byte>(rng.Next() >> 32);
  return bytes;
}

class MessageTest : public testing::Test {
 protected:
  void Use(const EndpointConfig& config) { pipe_ = std::make_unique<Pipe>(config, config); }
  Pipe& pipe() { return *pipe_; }
  void Open() { id_ = pipe().Open(kNone); }
  void Receive(std::byte* data, uint32_t capacity, uint64_t cookie = 0) {
    ASSERT_TRUE(pipe()[1]
                    .PostReceive(pipe().now(), pipe().accepted(),
                                 {.data = data, .capacity = capacity, .cookie = cookie})
                    .ok());
    pipe().Kick(1);
  }
  void Send(const std::byte* data, uint32_t length, uint64_t cookie = 0) {
    ASSERT_TRUE(pipe()[0]
                    .PostSend(pipe().now(), id_, {.data = data, .length = length, .cookie = cookie})
                    .ok());
    pipe().Kick(0);
  }
  void Write(const WriteRequest& request) {
    ASSERT_TRUE(pipe()[0].PostWrite(pipe().now(), id_, request).ok());
    pipe().Kick(0);
  }
  uint64_t Packets() { return pipe()[0].counters().data_packets_sent; }
  void ExpectRefused(Cause cause) {
    pipe().RunFor(Millis(1));
    EXPECT_EQ(pipe().Count(1, Event::kFailed, cause), 1);
    EXPECT_EQ(pipe().Count(0, Event::kFailed, Cause::kAbortedByPeer), 1);
    EXPECT_EQ(pipe()[0].connections() + pipe()[1].connections(), 0u);
  }

  std::unique_ptr<Pipe> pipe_ = std::make_unique<Pipe>();
  WireId id_{};
};

// The posted receive is told at once (90 B, 8 ns, 5 us); 1090 B of data come back (88 ns, 5 us).
TEST_F(MessageTest, ASendWaitsForItsReceive) {
  Open();
  Send(nullptr, 1000);
  pipe().RunFor(Micros(300));
  EXPECT_EQ(Packets(), 0u);
  const Time posted = pipe().now();
  Receive(nullptr, 1000, 7);
  pipe().RunUntil(posted + Nanos(10'095));
  EXPECT_EQ(pipe().Count(1, Event::kReceived), 0);
  pipe().RunUntil(posted + Nanos(10'096));
  ASSERT_EQ(pipe().Count(1, Event::kReceived), 1);
  EXPECT_EQ(pipe().completions(1).back().cookie, 7u);
  EXPECT_EQ(pipe().completions(1).back().bytes, 1000u);
}

TEST_F(MessageTest, TheNewsOfAReceiveMayBeLost) {
  Open();
  Send(nullptr, 1000);
  pipe().RunFor(Micros(20));
  const Time posted = pipe().now();
  pipe().OnPacket([&](const Sight& s) {
    return Fate{.copies = s.info.type == PacketType::kAck && s.at < posted + Micros(5) ? 0 : 1};
  });
  Receive(nullptr, 1000);
  pipe().RunFor(Micros(300));  // a probe asks again
  EXPECT_EQ(pipe().Count(1, Event::kReceived), 1);
}

// A sender that waits for a receive asks ever more seldom.
TEST_F(MessageTest, WaitingForAReceiveIsQuiet) {
  Open();
  Send(nullptr, 1000);
  pipe().RunFor(Seconds(1));
  // 30 us, doubled up to 2^10 times: 10 probes in the first 31 ms, then one each 31 ms.
  EXPECT_LE(pipe()[0].counters().probes_sent, 10u + 32u);
  EXPECT_EQ(pipe()[0].connections(), 1u);
  Receive(nullptr, 1000);
  pipe().RunFor(Micros(50));
  EXPECT_EQ(pipe().Count(1, Event::kReceived), 1);
}

TEST_F(MessageTest, ReceivesMayBePostedBeforeTheConnectionIsOpen) {
  id_ = *pipe()[0].Connect(pipe().now(), Pipe::AddressOf(1), kNone);
  std::vector<std::byte> room(100);
  ASSERT_TRUE(
      pipe()[0].PostReceive(pipe().now(), id_, {.data = room.data(), .capacity = 100}).ok());
  pipe().Kick(0);
  pipe().RunFor(Micros(50));
  const auto source = Pattern(100);
  ASSERT_TRUE(pipe()[1]
                  .PostSend(pipe().now(), pipe().accepted(), {.data = source.data(), .length = 100})
                  .ok());
  pipe().Kick(1);
  pipe().RunFor(Micros(50));
  EXPECT_EQ(pipe().Count(0, Event::kReceived), 1);
  EXPECT_EQ(room, source);
}

TEST_F(MessageTest, AMessageThatIsTooLongEndsTheConnection) {
  Open();
  std::vector<std::byte> room(999);
  Receive(room.data(), 999);
  Send(nullptr, 1000);
  ExpectRefused(Cause::kTooLong);
}

TEST_F(MessageTest, AMessageMayFillItsBuffer) {
  Open();
  Receive(nullptr, 1000);
  Send(nullptr, 1000);
  pipe().RunFor(Micros(50));
  EXPECT_EQ(pipe().Count(1, Event::kReceived), 1);
}

TEST_F(MessageTest, AWriteToNoRegionEndsTheConnection) {
  Open();
  Write({.length = 10, .region = 0});
  ExpectRefused(Cause::kBadAddress);
}

TEST_F(MessageTest, AWriteToAClosedRegionEndsTheConnection) {
  Open();
  const uint32_t region = *pipe()[1].RegisterRegion(nullptr, 1000);
  ASSERT_TRUE(pipe()[1].CloseRegion(region).ok());
  Write({.length = 10, .region = region});
  ExpectRefused(Cause::kBadAddress);
}

TEST_F(MessageTest, AWriteEndsWithItsRegion) {
  Open();
  std::vector<std::byte> memory(1000);
  const uint32_t region = *pipe()[1].RegisterRegion(memory.data(), memory.size());
  Write({.length = 10, .region = region, .address = 990});
  Write({.length = 0, .region = region, .address = 1000});
  pipe().RunFor(Micros(50));
  EXPECT_EQ(pipe().Count(0, Event::kSent), 2);
  Write({.length = 10, .region = region, .address = 991});
  ExpectRefused(Cause::kBadAddress);
}

// The address of a packet has 48 bits: none wraps round to the region's beginning.
TEST_F(MessageTest, AFarAddressIsOutside) {
  for (const uint64_t address : {uint64_t{1000}, (uint64_t{1} << 48) - 1}) {
    Use(PipeConfig());
    Open();
    const uint32_t region = *pipe()[1].RegisterRegion(nullptr, 1000);
    Write({.length = 1, .region = region, .address = address});
    ExpectRefused(Cause::kBadAddress);
  }
}

TEST_F(MessageTest, EmptyMessagesArrive) {
  Open();
  const uint32_t region = *pipe()[1].RegisterRegion(nullptr, 1);
  Receive(nullptr, 0, 5);
  Send(nullptr, 0);
  Write({.length = 0, .region = region, .notify = true});
  pipe().RunFor(Micros(50));
  EXPECT_EQ(pipe().Count(0, Event::kSent), 2);
  EXPECT_EQ(pipe().Count(1, Event::kReceived), 2);
}

TEST_F(MessageTest, ANotifyingWriteTellsItsNumberAndAPlainOneNothing) {
  Open();
  std::vector<std::byte> memory(30'000);
  const auto source = Pattern(10'000);
  const uint32_t region = *pipe()[1].RegisterRegion(memory.data(), memory.size());
  Write({.data = source.data(), .length = 10'000, .region = region});
  Write({.data = source.data(),
         .length = 10'000,
         .region = region,
         .address = 20'000,
         .notify = true});
  pipe().RunFor(Micros(50));
  EXPECT_EQ(pipe().Count(0, Event::kSent), 2);
  ASSERT_EQ(pipe().Count(1, Event::kReceived), 1);
  EXPECT_EQ(pipe().completions(1).back().cookie, 1u);
  EXPECT_TRUE(std::equal(source.begin(), source.end(), memory.begin()));
  EXPECT_TRUE(std::equal(source.begin(), source.end(), memory.begin() + 20'000));
}

TEST_F(MessageTest, RoomIsBoundedAndComesBack) {
  EndpointConfig small = PipeConfig();
  small.tx_messages_max = 2;
  Use(small);
  Open();
  *pipe()[1].RegisterRegion(nullptr, 1000);
  Write({.length = 10});
  Write({.length = 10});
  EXPECT_EQ(pipe()[0].PostWrite(pipe().now(), id_, {.length = 10}).code(),
            absl::StatusCode::kResourceExhausted);
  pipe().RunFor(Micros(50));
  Write({.length = 10});
  pipe().RunFor(Micros(50));
  EXPECT_EQ(pipe().Count(0, Event::kSent), 3);
}

struct Shape {
  uint16_t payload;
  bool v6;
};
class EveryShape : public testing::TestWithParam<Shape> {};

TEST_P(EveryShape, CarriesMessagesAcrossLosses) {
  EndpointConfig ends[2] = {PipeConfig(), PipeConfig()};
  for (uint64_t side : {0, 1}) {
    ends[side].payload_max = GetParam().payload;
    if (GetParam().v6) ends[side].address = NetAddress::V6(0xFD, side + 1, 0x0200'0000'0001 + side);
  }
  Pipe pipe(ends[0], ends[1]);
  const NetAddress to = GetParam().v6 ? ends[1].address : Pipe::AddressOf(1);
  const WireId id = *pipe[0].Connect(pipe.now(), to, kNone);
  pipe.Kick(0);
  pipe.RunFor(Micros(50));
  pipe.OnPacket([](const Sight& s) { return Fate{.copies = s.nth % 7 == 3 ? 0 : 1}; });
  for (const uint32_t length :
       {1u, GetParam().payload - 1u, GetParam().payload + 0u, GetParam().payload + 1u, 200'000u}) {
    const auto source = Pattern(length);
    std::vector<std::byte> room(length);
    ASSERT_TRUE(
        pipe[1]
            .PostReceive(pipe.now(), pipe.accepted(), {.data = room.data(), .capacity = length})
            .ok());
    ASSERT_TRUE(pipe[0].PostSend(pipe.now(), id, {.data = source.data(), .length = length}).ok());
    pipe.Kick(0);
    pipe.Kick(1);
    pipe.RunFor(Millis(20));
    EXPECT_EQ(room, source) << length;
  }
  EXPECT_EQ(pipe.Count(0, Event::kSent), 5);
  EXPECT_EQ(pipe.Count(1, Event::kReceived), 5);
}
INSTANTIATE_TEST_SUITE_P(Payloads, EveryShape,
                         testing::Values(Shape{256, false}, Shape{4096, false}, Shape{8192, false},
                                         Shape{9000, false}, Shape{1000, true}, Shape{4096, true},
                                         Shape{8192, true}),
                         [](const auto& shape) {
                           return std::to_string(shape.param.payload) +
                                  (shape.param.v6 ? "BytesV6" : "BytesV4");
                         });

TEST_F(MessageTest, APayloadThatWasDamagedIsSentAgain) {
  EndpointConfig checked = PipeConfig();
  checked.payload_crc = true;
  Use(checked);
  Open();
  pipe().OnPacket([](const Sight& s) {
    Fate fate;
    if (s.info.type == PacketType::kData && s.nth == 3) {
      fate.edit = [](std::vector<std::byte>& bytes) { bytes[2000] ^= std::byte{4}; };
    }
    return fate;
  });
  const auto source = Pattern(50'000);
  std::vector<std::byte> room(50'000);
  Receive(room.data(), 50'000);
  Send(source.data(), 50'000);
  pipe().RunFor(Millis(1));
  EXPECT_EQ(room, source);
  EXPECT_EQ(pipe()[1].counters().bad_checksums, 1u);
  EXPECT_EQ(pipe()[0].counters().retransmitted_packets, 1u);
}

// After the connection is open: messages both ways, losses, probes, time-outs, a refused peer.
TEST_F(MessageTest, NothingAllocatesAfterTheSetUp) {
  Open();
  std::vector<std::byte> memory(400'000);
  const auto source = Pattern(400'000);
  const uint32_t region = *pipe()[1].RegisterRegion(memory.data(), memory.size());
  pipe().OnPacket([](const Sight& s) {
    return Fate{.copies = s.nth % 11 == 5 ? 0 : s.nth % 11 == 6 ? 2 : 1, .extra = Nanos(s.nth % 5)};
  });
  const int64_t before = pipe().allocations();
  for (int i = 0; i < 10; ++i) {
    Receive(memory.data(), 400'000);
    Send(source.data(), 400'000);
    Write({.data = source.data(), .length = 400'000, .region = region, .notify = true});
    pipe().RunFor(Millis(5));
  }
  EXPECT_EQ(pipe().Count(1, Event::kReceived), 20);
  EXPECT_EQ(pipe().allocations(), before);
}

// What InPlace was shown, put together again.
struct Taken {
  std::vector<std::byte> bytes;
  size_t calls = 0;
  InPlace in_place() {
    return {[](void* argument, uint64_t offset, const void* data, size_t size) {
              auto& taken = *static_cast<Taken*>(argument);
              ++taken.calls;
              ASSERT_LE(offset + size, taken.bytes.size());
              if (size > 0) std::memcpy(taken.bytes.data() + offset, data, size);
            },
            this};
  }
};

TEST_F(MessageTest, ASendIsTakenInPlaceOnceForEachPacket) {
  Use(PipeConfig());
  Open();
  // Every third packet comes twice, every fifth not at once.
  pipe().OnPacket([](const Sight& s) {
    if (s.info.type != PacketType::kData) return Fate{};
    return Fate{.copies = s.nth % 5 == 4 ? 0 : s.nth % 3 == 0 ? 2 : 1};
  });
  const std::vector<std::byte> data = Pattern(100'001);
  Taken taken{.bytes = std::vector<std::byte>(data.size())};
  const auto length = static_cast<uint32_t>(data.size());
  ASSERT_TRUE(pipe()[1]
                  .PostReceive(pipe().now(), pipe().accepted(),
                               {.capacity = length, .cookie = 9, .in_place = taken.in_place()})
                  .ok());
  pipe().Kick(1);
  Send(data.data(), length);
  pipe().RunFor(Millis(10));
  ASSERT_EQ(pipe().Count(1, Event::kReceived), 1);
  EXPECT_EQ(taken.bytes, data);
  EXPECT_EQ(taken.calls, (data.size() + 4095) / 4096);
}

TEST_F(MessageTest, AWriteIsTakenInPlaceAtItsOffset) {
  Use(PipeConfig());
  Open();
  const std::vector<std::byte> data = Pattern(9'000);
  Taken taken{.bytes = std::vector<std::byte>(10'000)};
  const absl::StatusOr<uint32_t> region =
      pipe()[1].RegisterRegion(RxTarget{.in_place = taken.in_place()}, taken.bytes.size());
  ASSERT_TRUE(region.ok());
  Write({.data = data.data(), .length = 9'000, .region = *region, .address = 1'000});
  pipe().RunFor(Millis(1));
  EXPECT_TRUE(std::equal(data.begin(), data.end(), taken.bytes.begin() + 1'000));
}

TEST_F(MessageTest, PlacedAndTakenInPlaceAtOnceIsRefused) {
  Use(PipeConfig());
  Open();
  Taken taken;
  std::byte byte{};
  const absl::Status status =
      pipe()[1].PostReceive(pipe().now(), pipe().accepted(),
                            {.data = &byte, .capacity = 1, .in_place = taken.in_place()});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(pipe()[1].RegisterRegion({&byte, taken.in_place()}, 1).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace weir
