// What switches do to frames and what a receiver learns from the headers below Weir's.
#include <set>
#include <vector>

#include "datapath/nic_port.h"
#include "datapath/wire.h"
#include "gtest/gtest.h"
#include "tests/support/wire_random.h"

namespace weir {
namespace {

class WireFrameTest : public testing::TestWithParam<bool> {
 protected:
  bool v6() const { return GetParam(); }
  NetAddress Address(uint32_t host) const {
    return v6() ? NetAddress::V6(0xFD00'0000'0000'0000, host, 0x0200'0000'0000 + host)
                : NetAddress::V4(0x0A00'0000 + host, 0x0200'0000'0000 + host);
  }
  FrameWriter WriterTo(uint32_t host, uint16_t entropy = 0) const {
    return FrameWriter(Address(1), Address(host), entropy);
  }
  // A data packet; afterwards `frame_` is valid.
  void MakeData(const DataHeader& h, PathId path = 0, bool retransmit = false) {
    size_ = WriterTo(2).Write(h, path, retransmit, buffer_.data());
  }
  std::span<std::byte> frame() { return {buffer_.data(), size_}; }
  FrameInfo Info() {
    FrameInfo info;
    EXPECT_EQ(ReadFrame(frame(), info), WireError::kNone);
    return info;
  }

  std::array<std::byte, kFrameHeaderRoom> buffer_{};
  uint32_t size_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Ip, WireFrameTest, testing::Bool(),
                         [](const auto& v6) { return v6.param ? "V6" : "V4"; });

TEST_P(WireFrameTest, TellsWhoSentIt) {
  MakeData({});
  EXPECT_EQ(Info().from, Address(1));
}

// 65536 paths have 65536 source ports, whatever port the connection begins at.
TEST_P(WireFrameTest, EveryPathHasItsOwnPort) {
  const FrameWriter writer = WriterTo(2, 0xABCD);
  std::set<uint16_t> ports;
  for (uint32_t path = 0; path < 65536; ++path) {
    size_ = writer.Write(TrimNotice{}, static_cast<PathId>(path), buffer_.data());
    ports.insert(Info().udp_from);
  }
  EXPECT_EQ(ports.size(), 65536u);
}

TEST_P(WireFrameTest, AMarkIsSeenAndLeavesTheFrameValid) {
  MakeData({.psn = Psn(5)});
  EXPECT_FALSE(Info().marked);
  MarkFrame(frame());
  EXPECT_TRUE(Info().marked);
  DataHeader h;
  EXPECT_EQ(Read(Info().packet, h), WireError::kNone);
  EXPECT_EQ(h.psn, Psn(5));
}

TEST_P(WireFrameTest, AMarkOfAnIncapablePacketChangesNothing) {
  size_ = WriterTo(2).Write(AckHeader{}, 0, buffer_.data());
  const auto before = buffer_;
  MarkFrame(frame());
  EXPECT_EQ(buffer_, before);
}

TEST_P(WireFrameTest, TrimmedFramesAreRecognised) {
  MakeData({.payload = 4096, .length = 4096});
  EXPECT_FALSE(Info().trimmed);
  MarkFrame(frame());
  SetFrameDscp(frame(), kDscpTrimmed);
  EXPECT_TRUE(Info().trimmed);
  EXPECT_FALSE(Info().trimmed_last_hop);
  EXPECT_TRUE(Info().marked);  // the mark is kept
  SetFrameDscp(frame(), kDscpTrimmedLastHop);
  EXPECT_TRUE(Info().trimmed);
  EXPECT_TRUE(Info().trimmed_last_hop);
  DataHeader h;
  EXPECT_EQ(Read(Info().packet, h), WireError::kNone);
  EXPECT_EQ(h.payload, 4096);  // what was cut is still told
}

TEST_P(WireFrameTest, ClassesHaveTheirCodePoints) {
  const auto dscp = [&] {
    const auto tos = v6() ? static_cast<uint8_t>((static_cast<uint8_t>(buffer_[14]) << 4 |
                                                  static_cast<uint8_t>(buffer_[15]) >> 4))
                          : static_cast<uint8_t>(buffer_[15]);
    return tos >> 2;
  };
  MakeData({});
  EXPECT_EQ(dscp(), kDscpData);
  MakeData({}, 0, true);
  EXPECT_EQ(dscp(), kDscpRetransmit);
  size_ = WriterTo(2).Write(AckHeader{}, 0, buffer_.data());
  EXPECT_EQ(dscp(), kDscpControl);
}

// 44 bytes of Weir's header: 14 + 20 + 8 + 44 + 4 = 90 without payload, 110 with IPv6.
TEST_P(WireFrameTest, TheOverheadIsWhatIsWritten) {
  MakeData({});
  EXPECT_EQ(size_ + kFcsBytes, DataOverhead(v6()));
  EXPECT_EQ(size_ + kFcsBytes, v6() ? 110u : 90u);
  MakeData({.flags = DataHeader::kTelemetry});
  EXPECT_EQ(size_ + kFcsBytes, DataOverhead(v6(), InBand::kTelemetry));
}

TEST_P(WireFrameTest, SwitchesWriteTheirRecordsInOrder) {
  Rng rng(1);
  MakeData({.flags = DataHeader::kTelemetry});
  std::vector<SwitchRecord> written;
  for (int hop = 0; hop < kMaxHops + 2; ++hop) {
    written.push_back(AnyRecord(rng));
    AppendTelemetry(frame(), written.back());
  }
  std::array<SwitchRecord, kMaxHops> read;
  ASSERT_EQ(ReadTelemetry(Info().packet, read), kMaxHops);  // there is no room for more
  for (int hop = 0; hop < kMaxHops; ++hop) EXPECT_EQ(Fields(read[hop]), Fields(written[hop]));
  DataHeader h;
  EXPECT_EQ(Read(Info().packet, h), WireError::kNone);
}

TEST_P(WireFrameTest, WithoutRoomForRecordsNothingIsWritten) {
  Rng rng(1);
  MakeData({});
  const auto before = buffer_;
  AppendTelemetry(frame(), AnyRecord(rng));
  EXPECT_EQ(buffer_, before);
  size_ = WriterTo(2).Write(AckHeader{}, 0, buffer_.data());
  const auto ack = buffer_;
  AppendTelemetry(frame(), AnyRecord(rng));
  EXPECT_EQ(buffer_, ack);
}

TEST_P(WireFrameTest, SwitchesRaiseThePathLoadAndNeverLowerIt) {
  MakeData({.flags = DataHeader::kPathLoad, .payload = 10, .length = 10});
  EXPECT_EQ(size_ + kFcsBytes, DataOverhead(v6(), InBand::kPathLoad));
  EXPECT_TRUE(HasPathLoad(frame()));
  EXPECT_EQ(ReadPathLoad(Info().packet), 0);
  for (const double load : {0.5, 0.9, 0.7}) RaisePathLoad(frame(), EncodeLoad(load));
  EXPECT_NEAR(ReadPathLoad(Info().packet), 0.9, 0.025 * 0.9);
  DataHeader h;
  EXPECT_EQ(Read(Info().packet, h), WireError::kNone);  // it is in no checksum
  EXPECT_EQ(h.in_band(), InBand::kPathLoad);
}

TEST_P(WireFrameTest, WithoutRoomForAPathLoadNothingIsWritten) {
  MakeData({.flags = DataHeader::kTelemetry});
  const auto before = buffer_;
  EXPECT_FALSE(HasPathLoad(frame()));
  RaisePathLoad(frame(), 100);
  EXPECT_EQ(buffer_, before);
  size_ = WriterTo(2).Write(AckHeader{}, 0, buffer_.data());
  EXPECT_FALSE(HasPathLoad(frame()));
}

TEST_P(WireFrameTest, APacketHasRoomForRecordsOrForALoad) {
  MakeData({.flags = DataHeader::kTelemetry | DataHeader::kPathLoad});
  DataHeader h;
  EXPECT_EQ(Read(Info().packet, h), WireError::kField);
}

TEST_P(WireFrameTest, WhatIsNotOursIsToldApart) {
  FrameInfo info;
  MakeData({});
  const uint32_t udp = 14 + IpBytes(v6());
  buffer_[udp + 3] ^= std::byte{1};  // another port
  EXPECT_EQ(ReadFrame(frame(), info), WireError::kNotOurs);
  MakeData({});
  buffer_[12] = std::byte{0x12};  // another protocol below
  EXPECT_EQ(ReadFrame(frame(), info), WireError::kNotOurs);
  MakeData({});
  buffer_[udp + 8] = std::byte{0x24};  // version 2
  EXPECT_EQ(ReadFrame(frame(), info), WireError::kVersion);
}

TEST_P(WireFrameTest, ARefusalIsReadInEveryVersion) {
  size_ = WriterTo(2).Write(RefuseHeader{}, 0, buffer_.data());
  const uint32_t at = 14 + IpBytes(v6()) + 8;
  buffer_[at] = std::byte{0x73};  // version 7, type 3
  FrameInfo info;
  EXPECT_EQ(ReadFrame(frame(), info), WireError::kNone);
  EXPECT_EQ(info.version, 7);
}

// Any bytes at all: nothing is read beyond the end. The address sanitizer watches.
TEST_P(WireFrameTest, RandomBytesNeverHurt) {
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    Rng rng(seed);
    MakeData(AnyData(rng));
    std::vector<std::byte> bytes(frame().begin(), frame().end());
    bytes.resize(rng.Below(static_cast<uint32_t>(bytes.size()) + 40));
    for (uint32_t i = rng.Below(20); i > 0 && !bytes.empty(); --i) {
      bytes[rng.Below(static_cast<uint32_t>(bytes.size()))] = static_cast<std::byte>(rng.Next());
    }
    FrameInfo info;
    if (ReadFrame(bytes, info) != WireError::kNone) continue;
    DataHeader data;
    AckHeader ack;
    OpenHeader open;
    Read(info.packet, data);
    Read(info.packet, ack);
    Read(info.packet, open);
  }
}

}  // namespace
}  // namespace weir
