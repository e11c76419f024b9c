#include <gtest/gtest.h>

#include "testbed/traffic/traffic.h"

namespace weir {
namespace {

// 400 Gb/s is 50 B/ns. A full packet of 4086 + 64 B takes 83 ns.
constexpr Duration kPacket = Nanos(83);
// 8 links of 1 us and a few store-and-forwards, 8.25 us, and the packet itself.
constexpr Duration kFar = Nanos(8250) + kPacket;
constexpr Duration kNear = Nanos(4100) + kPacket;

// Hosts of one parity are near each other.
Duration RoundTrip(const void*, uint32_t from, uint32_t to) {
  return from % 2 == to % 2 ? kNear : kFar;
}

const IdealInput kInput{.mtu_payload = Bytes(4086),
                        .overhead = Bytes(64),
                        .rate = [](const void*, uint32_t) { return Gbps(400); },
                        .round_trip = RoundTrip};

Traffic TrafficOf(std::vector<TrafficConnection> connections, std::vector<Transfer> transfers,
                  std::vector<Trigger> triggers = {}) {
  Traffic traffic;
  traffic.hosts = 16;
  traffic.connections = std::move(connections);
  traffic.transfers = std::move(transfers);
  traffic.triggers = std::move(triggers);
  return traffic;
}

Duration TransferOf(int64_t bytes) {
  const Traffic traffic = TrafficOf({{0, 1}}, {{.size = Bytes(bytes)}});
  return IdealTransfer(kInput, traffic, traffic.transfers[0]);
}

TEST(IdealTransferTest, TwoMegabytesTakeTheirPacketsAndARoundTrip) {
  // ceil(2000000 / 4086) = 490 packets; 489 before the last: 489 x 83 + 83 + 8250 = 48920 ns.
  EXPECT_EQ(TransferOf(2'000'000), Nanos(48'920));
}

TEST(IdealTransferTest, PacketsAreCountedUpwards) {
  EXPECT_EQ(TransferOf(1), kFar);
  EXPECT_EQ(TransferOf(4086), kFar);
  EXPECT_EQ(TransferOf(4087), kFar + kPacket);
  EXPECT_EQ(TransferOf(2 * 4086), kFar + kPacket);
  EXPECT_EQ(TransferOf(2 * 4086 + 1), kFar + 2 * kPacket);
}

TEST(IdealMakespanTest, NothingTakesNoTime) {
  EXPECT_EQ(IdealMakespan(kInput, TrafficOf({}, {})), Duration(0));
}

TEST(IdealMakespanTest, OneTransferIsItself) {
  const Traffic traffic = TrafficOf({{0, 1}}, {{.size = Bytes(2'000'000)}});
  EXPECT_EQ(IdealMakespan(kInput, traffic), Nanos(48'920));
}

TEST(IdealMakespanTest, AnIncastIsBoundByItsReceiver) {
  // 8 senders of 100 full packets: 800 at the receiver, one of them in the round trip.
  // The nearest sender's round trip counts.
  const Traffic traffic = Incast(16, 8, 0, Bytes(100 * 4086));
  EXPECT_EQ(IdealMakespan(kInput, traffic), 799 * kPacket + kNear);
}

TEST(IdealMakespanTest, AnOutcastIsBoundByItsSender) {
  const Traffic traffic = TrafficOf(
      {{0, 1}, {0, 3}},
      {{.connection = 0, .size = Bytes(10 * 4086)}, {.connection = 1, .size = Bytes(20 * 4086)}});
  EXPECT_EQ(IdealMakespan(kInput, traffic), 29 * kPacket + kFar);
}

TEST(IdealMakespanTest, AShortLastPacketCountsItsOwnBytes) {
  // 2 x (5000 B + 2 headers of 64 B) = 10256 B less one packet of 4150: 6106 B, 122.12 ns.
  const Traffic traffic = TrafficOf({{1, 0}, {3, 0}}, {{.connection = 0, .size = Bytes(5000)},
                                                       {.connection = 1, .size = Bytes(5000)}});
  EXPECT_EQ(IdealMakespan(kInput, traffic), Nanos(123) + kFar);
}

TEST(IdealMakespanTest, BothDirectionsOfAHostAreIndependent) {
  const Traffic traffic = TrafficOf(
      {{0, 1}, {1, 0}},
      {{.connection = 0, .size = Bytes(10 * 4086)}, {.connection = 1, .size = Bytes(10 * 4086)}});
  EXPECT_EQ(IdealMakespan(kInput, traffic), 9 * kPacket + kFar);
}

TEST(IdealMakespanTest, AChainOnSentAddsWholeTransfers) {
  const Traffic traffic = TrafficOf({{0, 1}, {2, 3}},
                                    {{.connection = 0, .size = Bytes(4086), .on_sent = 0},
                                     {.connection = 1, .size = Bytes(4086), .after = 0}},
                                    {{}});
  EXPECT_EQ(IdealMakespan(kInput, traffic), 2 * kFar);
}

TEST(IdealMakespanTest, AChainOnReceivedSavesHalfARoundTripEach) {
  const Traffic traffic = TrafficOf({{0, 1}, {2, 3}},
                                    {{.connection = 0, .size = Bytes(4086), .on_received = 0},
                                     {.connection = 1, .size = Bytes(4086), .after = 0}},
                                    {{}});
  EXPECT_EQ(IdealMakespan(kInput, traffic), kFar - kFar / 2 + kFar);
}

TEST(IdealMakespanTest, ABarrierFiresAtItsCountthCompletion) {
  // Transfers of 1, 3 and 5 packets end at kFar, kFar + 2 and kFar + 4 packets.
  std::vector<Transfer> transfers;
  for (uint32_t i = 0; i < 3; ++i) {
    transfers.push_back({.connection = i, .size = Bytes((2 * i + 1) * 4086), .on_sent = 0});
  }
  transfers.push_back({.connection = 3, .size = Bytes(100 * 4086), .after = 0});
  for (uint32_t count = 1; count <= 3; ++count) {
    const Traffic traffic =
        TrafficOf({{0, 1}, {2, 3}, {4, 5}, {6, 7}}, transfers, {{.count = count}});
    EXPECT_EQ(IdealMakespan(kInput, traffic),
              kFar + 2 * (count - 1) * kPacket + TransferOf(408600));
  }
}

TEST(IdealMakespanTest, ARepeatingTriggerStartsItsTransferAgain) {
  // Fired at kFar and kFar + 2 packets; what it starts loads the sender twice with 50 packets.
  const std::vector<Transfer> transfers = {
      {.connection = 0, .size = Bytes(4086), .on_sent = 0},
      {.connection = 1, .size = Bytes(3 * 4086), .on_sent = 0},
      {.connection = 2, .size = Bytes(500 * 4086), .after = 0}};
  const std::vector<TrafficConnection> pairs = {{0, 1}, {2, 3}, {4, 5}};
  EXPECT_EQ(IdealMakespan(kInput, TrafficOf(pairs, transfers, {{.repeats = false}})),
            kFar + 499 * kPacket + kFar);
  EXPECT_EQ(IdealMakespan(kInput, TrafficOf(pairs, transfers, {{.repeats = true}})),
            999 * kPacket + kFar);
}

TEST(IdealMakespanTest, TimeRunsFromTheFirstStart) {
  const Traffic traffic =
      TrafficOf({{0, 1}, {2, 3}}, {{.connection = 0, .size = Bytes(1), .start = Micros(10)},
                                   {.connection = 1, .size = Bytes(1), .start = Micros(30)}});
  EXPECT_EQ(IdealMakespan(kInput, traffic), Micros(20) + kFar);
}

TEST(IdealMakespanTest, ARingIsAsLongAsItsSteps) {
  // 6 steps of one packet from one parity to the other: each but the last is handed on when it
  // has been received, half a round trip before its end.
  const Traffic traffic = RingAllReduce(4, 4, Bytes(4 * 4086));
  EXPECT_EQ(IdealMakespan(kInput, traffic), 5 * (kFar - kFar / 2) + kFar);
}

TEST(IdealMakespanTest, EndlessTrafficNeverEnds) {
  const Traffic traffic = TrafficOf(
      {{0, 1}}, {{.size = Bytes(1), .on_sent = 0}, {.size = Bytes(1), .after = 0, .on_sent = 0}},
      {{.repeats = true}});
  EXPECT_EQ(IdealMakespan(kInput, traffic), Duration::Max());
}

}  // namespace
}  // namespace weir
