#include "testbed/loopback/carrier.h"

#include <deque>

#include "gtest/gtest.h"
#include "tests/support/fake_far_end.h"

namespace weir {
namespace {

// Two senders, host 2 receives; 8 Gb/s are a nanosecond a byte.
constexpr Rate kRate = Gbps(8);
constexpr Duration kDelay = Micros(1);
constexpr uint16_t kPayload = 1000;
constexpr int64_t kWire = kPayload + DataOverhead(false);
constexpr uint32_t kReceiver = 2;

class CarrierTest : public testing::Test {
 protected:
  void Make(const SwitchConfig& switches = {}) {
    const Topology topology = SingleBottleneck({.senders = 2, .rate = kRate, .delay = kDelay});
    carrier_ = std::make_unique<Carrier>(topology, CarrierConfig{.switches = switches});
    for (uint32_t host = 0; host < 3; ++host) {
      carrier_->Attach(host, far_ends_.emplace_back(host));
    }
  }
  // Turns at each of `step` up to `until`.
  void TurnUntil(Time until, Duration step = Nanos(100)) {
    for (; now_ <= until; now_ = now_ + step) carrier_->Turn(now_);
  }
  FakeFarEnd& Host(uint32_t host) { return far_ends_[host]; }
  std::vector<Frame>& Arrived() { return Host(kReceiver).received(); }
  FrameInfo Info(const Frame& frame) {
    FrameInfo info;
    EXPECT_EQ(ReadFrame({frame.data, frame.size}, info), WireError::kNone);
    return info;
  }

  std::deque<FakeFarEnd> far_ends_;
  std::unique_ptr<Carrier> carrier_;
  Time now_{};
};

// Out at 0; 1090 ns on each of two links of 1 us: there at 4180 ns.
TEST_F(CarrierTest, AFrameArrivesInTheTurnInWhichItIsDue) {
  Make();
  Host(0).SendData(kReceiver, kPayload);
  carrier_->Turn(Time(0));
  const Time due = Time(0) + 2 * (kDelay + Nanos(kWire));
  carrier_->Turn(due - Nanos(1));
  EXPECT_TRUE(Arrived().empty());
  carrier_->Turn(due);
  EXPECT_EQ(Arrived().size(), 1u);
  EXPECT_EQ(carrier_->packets_held(), 0u);
  EXPECT_EQ(carrier_->fabric().CheckConservation(due), "");
}

TEST_F(CarrierTest, PayloadTravelsByReference) {
  Make();
  const std::byte* payload = Host(0).SendData(kReceiver, kPayload, 0xAB);
  TurnUntil(Time(0) + Micros(10));
  ASSERT_EQ(Arrived().size(), 1u);
  EXPECT_EQ(Arrived()[0].payload, payload);
  EXPECT_EQ(Arrived()[0].payload_size, kPayload);
  EXPECT_EQ(Host(0).copies(), 0u);
  DataHeader h;
  EXPECT_EQ(Read(Info(Arrived()[0]).packet, h), WireError::kNone);
}

// A turn that comes 100 us late finds the same arrivals in the same order, and says how late.
TEST_F(CarrierTest, ALateTurnDelaysFramesAndChangesNothingElse) {
  Make({.queue_limit = Bytes(2 * kWire), .trimming = true});
  for (int i = 0; i < 8; ++i) {
    Host(0).SendData(kReceiver, kPayload);
    Host(1).SendData(kReceiver, kPayload);
  }
  carrier_->Turn(Time(0));
  carrier_->StartWatching(Time(0));
  carrier_->Turn(Time(0) + Micros(100));
  const size_t at_once = Arrived().size();
  const uint64_t trims = carrier_->fabric().stats().trims;
  EXPECT_EQ(carrier_->longest_gap(), Micros(100));
  // The first frame of each host was due at the switch at 1090 + 1000 ns.
  EXPECT_EQ(carrier_->lateness().max(), Micros(100) - (Nanos(kWire) + kDelay));

  far_ends_.clear();
  Make({.queue_limit = Bytes(2 * kWire), .trimming = true});
  for (int i = 0; i < 8; ++i) {
    Host(0).SendData(kReceiver, kPayload);
    Host(1).SendData(kReceiver, kPayload);
  }
  TurnUntil(Time(0) + Micros(100));
  EXPECT_EQ(Arrived().size(), at_once);
  EXPECT_EQ(at_once, 16u);
  EXPECT_EQ(carrier_->fabric().stats().trims, trims);
  EXPECT_GT(trims, 0u);
  EXPECT_LE(carrier_->lateness().max(), Nanos(100));
}

TEST_F(CarrierTest, WhatTheFabricDidStandsInTheHeaders) {
  Make({.queue_limit = Bytes(3 * kWire),
        .mark_min = Bytes(kWire),
        .mark_max = Bytes(kWire),
        .trimming = true});
  for (int i = 0; i < 8; ++i) {
    Host(0).SendData(kReceiver, kPayload);
    Host(1).SendData(kReceiver, kPayload);
  }
  TurnUntil(Time(0) + Micros(100));
  uint64_t marked = 0;
  uint64_t trimmed = 0;
  for (const Frame& frame : Arrived()) {
    const FrameInfo info = Info(frame);
    DataHeader h;
    ASSERT_EQ(Read(info.packet, h), WireError::kNone);
    EXPECT_EQ(h.payload, kPayload);
    EXPECT_EQ(frame.payload_size, info.trimmed ? 0u : kPayload);
    EXPECT_EQ(info.trimmed_last_hop, info.trimmed);
    marked += info.marked ? 1 : 0;
    trimmed += info.trimmed ? 1 : 0;
  }
  EXPECT_EQ(marked, carrier_->fabric().stats().marks);
  EXPECT_EQ(trimmed, carrier_->fabric().stats().trims);
  EXPECT_GT(marked, 0u);
  EXPECT_GT(trimmed, 0u);
}

TEST_F(CarrierTest, SwitchesWriteTelemetryIntoTheRoomReserved) {
  Make({.telemetry = true});
  Host(0).SendData(kReceiver, kPayload, 0, true);
  TurnUntil(Time(0) + Micros(10));
  ASSERT_EQ(Arrived().size(), 1u);
  std::array<SwitchRecord, kMaxHops> records{};
  EXPECT_EQ(ReadTelemetry(Info(Arrived()[0]).packet, records), 1);
  EXPECT_EQ(records[0].rate, kRate);
}

// Two data frames fill the queue of host 0's link before the probe comes.
TEST_F(CarrierTest, ControlFramesGoFirst) {
  Make();
  for (int i = 0; i < 3; ++i) Host(0).SendData(kReceiver, kPayload);
  Host(0).SendControl(kReceiver);
  TurnUntil(Time(0) + Micros(20));
  ASSERT_EQ(Arrived().size(), 4u);
  EXPECT_EQ(Info(Arrived()[1]).type, PacketType::kProbe);
}

TEST_F(CarrierTest, WhatALinkThatIsDownLosesGoesBack) {
  Make();
  carrier_->OnTimer([this](uint32_t timer) {
    carrier_->fabric().SetLink(carrier_->now(), timer == 0 ? 0 : 1, false);
  });
  carrier_->SetTimer(0, Time(0) + Nanos(50));  // of host 0, while its frame leaves
  for (int i = 0; i < 3; ++i) Host(0).SendData(kReceiver, kPayload);
  Host(1).SendData(kReceiver, kPayload);
  TurnUntil(Time(0) + Micros(50));
  EXPECT_EQ(Arrived().size(), 1u);
  EXPECT_EQ(carrier_->fabric().stats().lost_by_fault, 3u);
  uint32_t dropped = 0;  // any far end takes what any host has sent
  for (const FakeFarEnd& far_end : far_ends_) dropped += far_end.dropped();
  EXPECT_EQ(dropped, 3u);
  EXPECT_EQ(carrier_->packets_held(), 0u);
}

TEST_F(CarrierTest, CorruptionTouchesACopyOnly) {
  Make();
  carrier_->fabric().SetImpairment(0, {.corruption = 1});
  std::vector<const std::byte*> payloads;
  for (int i = 0; i < 40; ++i) payloads.push_back(Host(0).SendData(kReceiver, kPayload, 0x55));
  TurnUntil(Time(0) + Micros(200));
  ASSERT_EQ(Arrived().size(), 40u);
  int damaged = 0;
  for (const Frame& frame : Arrived()) {
    const uint32_t header = frame.payload_size > 0 ? frame.size : frame.size - kPayload;
    const std::byte* payload = frame.payload_size > 0 ? frame.payload : frame.data + header;
    const auto bad = std::count_if(payload, payload + kPayload,
                                   [](std::byte b) { return b != std::byte{0x55}; });
    damaged += bad > 0 ? 1 : 0;
  }
  EXPECT_GT(damaged, 20);  // 8000 of 8688 bits are payload
  for (const std::byte* payload : payloads) {
    EXPECT_EQ(std::count(payload, payload + kPayload, std::byte{0x55}), kPayload);
  }
  EXPECT_EQ(Host(0).dropped() + Host(1).dropped() + Host(2).dropped(),
            Host(0).copies() + Host(1).copies() + Host(2).copies());  // the originals go back
}

TEST_F(CarrierTest, ADuplicateIsAFrameOfItsOwn) {
  Make();
  carrier_->fabric().SetImpairment(0, {.duplication = 1});
  Host(0).SendData(kReceiver, kPayload, 0x77);
  TurnUntil(Time(0) + Micros(20));
  ASSERT_EQ(Arrived().size(), 2u);
  EXPECT_NE(Arrived()[0].owner, Arrived()[1].owner);
  for (const Frame& frame : Arrived()) {
    DataHeader h;
    EXPECT_EQ(Read(Info(frame).packet, h), WireError::kNone);
    EXPECT_EQ(frame.size + frame.payload_size + kFcsBytes, kWire);
  }
  EXPECT_EQ(carrier_->packets_held(), 0u);
}

TEST_F(CarrierTest, AFullRingLosesTheFrameAndCountsIt) {
  Make();
  Host(kReceiver).set_room(2);
  for (int i = 0; i < 5; ++i) Host(0).SendData(kReceiver, kPayload);
  TurnUntil(Time(0) + Micros(50));
  EXPECT_EQ(carrier_->missed(), 3u);
  EXPECT_EQ(Host(kReceiver).dropped(), 3u);
  EXPECT_EQ(carrier_->packets_held(), 0u);
}

TEST_F(CarrierTest, WhatIsNoPacketOfOursIsCountedAndGoesBack) {
  Make();
  Host(0).SendBytes(std::vector<std::byte>(20));                    // short
  Host(0).SendBytes(std::vector<std::byte>(60));                    // no IP
  Host(0).SendBytes(std::vector<std::byte>(kFrameHeaderRoom + 1));  // longer than any headers
  TurnUntil(Time(0) + Micros(10));
  EXPECT_EQ(carrier_->foreign(), 3u);
  EXPECT_EQ(Host(0).dropped(), 3u);
  EXPECT_EQ(carrier_->packets_held(), 0u);
}

TEST_F(CarrierTest, WhatIsUnderWayAtTheEndGoesBack) {
  Make();
  for (int i = 0; i < 4; ++i) Host(0).SendData(kReceiver, kPayload);
  carrier_->Turn(Time(0));
  EXPECT_EQ(carrier_->packets_held(), 4u);
  carrier_.reset();
  EXPECT_EQ(Host(0).dropped() + Host(1).dropped() + Host(2).dropped(), 4u);
}

}  // namespace
}  // namespace weir
