#include "datapath/wire.h"

#include <set>
#include <vector>

#include "datapath/nic_port.h"
#include "gtest/gtest.h"
#include "tests/support/wire_random.h"

namespace weir {
namespace {

using Buffer = std::array<std::byte, kFrameHeaderRoom>;

NetAddress Ours(bool v6) {
  return v6 ? NetAddress::V6(0xFD00'0000'0000'0000, 1, 0x0200'0000'0001)
            : NetAddress::V4(0x0A00'0001, 0x0200'0000'0001);
}
NetAddress Theirs(bool v6) {
  return v6 ? NetAddress::V6(0xFD00'0000'0000'0000, 2, 0x0200'0000'0002)
            : NetAddress::V4(0x0A00'0002, 0x0200'0000'0002);
}

uint32_t WriteTo(Buffer& out, const FrameWriter& writer, const DataHeader& h) {
  return writer.Write(h, 7, false, out.data());
}
template <class Header>
uint32_t WriteTo(Buffer& out, const FrameWriter& writer, const Header& h) {
  return writer.Write(h, 7, out.data());
}

uint16_t Word(std::span<const std::byte> bytes, size_t at) {
  return static_cast<uint16_t>(static_cast<uint16_t>(bytes[at]) << 8 |
                               static_cast<uint16_t>(bytes[at + 1]));
}
uint32_t IpSum(std::span<const std::byte> frame, size_t ip) {
  uint32_t sum = 0;
  for (size_t i = 0; i < 20; i += 2) sum += Word(frame, ip + i);
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
  return sum;  // 0xFFFF if the checksum is right
}

// The random packets of each type, with both IP versions.
struct MakeData {
  DataHeader operator()(Rng& rng) { return AnyData(rng); }
};
struct MakeAck {
  AckHeader operator()(Rng& rng) { return AnyAck(rng); }
};
struct MakeNotice {
  TrimNotice operator()(Rng& rng) { return AnyNotice(rng); }
};
struct MakeControl {
  ControlHeader operator()(Rng& rng) { return AnyControl(rng); }
};
struct MakeOpen {
  OpenHeader operator()(Rng& rng) { return AnyOpen(rng); }
};
struct MakeRefusal {
  RefuseHeader operator()(Rng& rng) { return AnyRefusal(rng); }
};

template <class Make>
class EveryPacket : public testing::Test {
 protected:
  using Header = decltype(Make()(std::declval<Rng&>()));

  // One packet, as `fn(header, frame)`, for many seeds.
  template <class Fn>
  void ForMany(uint64_t seeds, Fn&& fn) {
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      Rng rng(seed);
      const bool v6 = seed % 2 == 0;
      const Header h = Make()(rng);
      const FrameWriter writer(Ours(v6), Theirs(v6), static_cast<uint16_t>(rng.Next()));
      Buffer out{};
      const uint32_t size = WriteTo(out, writer, h);
      fn(h, std::span(out.data(), size));
    }
  }
  // As an endpoint reads it: false if it is rejected.
  bool Accepts(std::span<const std::byte> frame, PacketType type, Header& h) {
    FrameInfo info;
    if (ReadFrame(frame, info) != WireError::kNone) return false;
    return info.type == type && Read(info.packet, h) == WireError::kNone;
  }
  static PacketType TypeOf(std::span<const std::byte> frame) {
    FrameInfo info;
    EXPECT_EQ(ReadFrame(frame, info), WireError::kNone);
    return info.type;
  }
};
using AllPackets =
    testing::Types<MakeData, MakeAck, MakeNotice, MakeControl, MakeOpen, MakeRefusal>;
TYPED_TEST_SUITE(EveryPacket, AllPackets);

TYPED_TEST(EveryPacket, ComesBackAsItWasWritten) {
  this->ForMany(200, [&](const auto& h, std::span<std::byte> frame) {
    typename TestFixture::Header back{};
    ASSERT_TRUE(this->Accepts(frame, this->TypeOf(frame), back));
    EXPECT_EQ(Fields(back), Fields(h));
  });
}

TYPED_TEST(EveryPacket, IsAcceptedBehindAVlanTag) {
  this->ForMany(20, [&](const auto& h, std::span<std::byte> frame) {
    std::vector<std::byte> tagged(frame.begin(), frame.end());
    const std::byte tag[] = {std::byte{0x81}, std::byte{0}, std::byte{0x60}, std::byte{5}};
    tagged.insert(tagged.begin() + 12, tag, tag + 4);
    typename TestFixture::Header back{};
    ASSERT_TRUE(this->Accepts(tagged, this->TypeOf(frame), back));
    EXPECT_EQ(Fields(back), Fields(h));
  });
}

TYPED_TEST(EveryPacket, IsRejectedWhenCutShort) {
  this->ForMany(10, [&](const auto&, std::span<std::byte> frame) {
    const PacketType type = this->TypeOf(frame);
    for (size_t size = 0; size < frame.size(); ++size) {
      typename TestFixture::Header back{};
      // A copy of its own, so that a read beyond the end is seen.
      const std::vector<std::byte> cut(frame.begin(), frame.begin() + static_cast<long>(size));
      ASSERT_FALSE(this->Accepts(cut, type, back)) << size;
    }
  });
}

// Fields below Weir's that no checksum of ours covers may change; none of ours may.
TYPED_TEST(EveryPacket, SurvivesNoFlippedBitUnnoticed) {
  this->ForMany(10, [&](const auto& h, std::span<std::byte> frame) {
    const PacketType type = this->TypeOf(frame);
    for (size_t bit = 0; bit < 8 * frame.size(); ++bit) {
      frame[bit / 8] ^= std::byte{static_cast<uint8_t>(1u << bit % 8)};
      typename TestFixture::Header back{};
      if (this->Accepts(frame, type, back)) {
        ASSERT_EQ(Fields(back), Fields(h)) << bit;
      }
      frame[bit / 8] ^= std::byte{static_cast<uint8_t>(1u << bit % 8)};
    }
  });
}

TYPED_TEST(EveryPacket, TellsItsLengthToEveryLayer) {
  this->ForMany(20, [&](const auto&, std::span<std::byte> frame) {
    const bool v6 = Word(frame, 12) == 0x86DD;
    const uint32_t udp = 14 + IpBytes(v6);
    DataHeader data;
    const bool is_data = Read(frame.subspan(udp + 8), data) == WireError::kNone;
    const size_t length = frame.size() - udp + (is_data ? data.payload : 0);
    EXPECT_EQ(Word(frame, udp + 4), length);
    EXPECT_EQ(Word(frame, v6 ? 18 : 16), v6 ? length : length + 20);
    if (!v6) {
      EXPECT_EQ(IpSum(frame, 14), 0xFFFFu);
    }
  });
}

TEST(Crc32cTest, MatchesTheCheckValue) {
  // The CRC catalogue's check of CRC-32/ISCSI: the nine digits.
  const char text[] = "123456789";
  const auto bytes = std::as_bytes(std::span(text, 9));
  EXPECT_EQ(Crc32c(0, bytes), 0xE3069283u);
  EXPECT_EQ(Crc32cByTable(0, bytes), 0xE3069283u);
  EXPECT_EQ(Crc32c(0, {}), 0u);
}

TEST(Crc32cTest, TableAndInstructionAgreeAndContinue) {
  Rng rng(1);
  std::vector<std::byte> bytes(300);
  for (std::byte& b : bytes) b = static_cast<std::byte>(rng.Next() >> 32);
  for (size_t from = 0; from < 9; ++from) {
    for (size_t size = 0; size + from <= bytes.size(); ++size) {
      const std::span<const std::byte> part(bytes.data() + from, size);
      const uint32_t crc = Crc32c(0, part);
      ASSERT_EQ(crc, Crc32cByTable(0, part));
      const size_t half = size / 2;
      ASSERT_EQ(crc, Crc32c(Crc32c(0, part.first(half)), part.subspan(half)));
    }
  }
}

}  // namespace
}  // namespace weir
