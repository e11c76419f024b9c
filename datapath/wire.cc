// Weir's own packets: encode and decode.
#include "datapath/wire.h"

#include <algorithm>
#include <array>
#include <bit>

#include "datapath/wire_codec.h"

namespace weir {
namespace {

using wire::FirstByte;
using wire::kRecordBytes;
using wire::Reader;
using wire::ReadRecord;
using wire::TypeIs;
using wire::Writer;
using wire::WriteRecord;

constexpr uint32_t kAckFixedBytes = 44;
constexpr uint32_t kTrimNoticeBytes = 20;
constexpr uint32_t kControlBytes = 20;
constexpr uint32_t kRefuseBytes = 24;

// An acknowledgement's flags share their byte with the receiver's level.
constexpr int kLevelShift = 3;
constexpr uint8_t kAckFlags = (1 << kLevelShift) - 1;

// What the codes from 1 on stand for; by multiplication alone, so the same bits everywhere.
constexpr std::array<double, 255> kLoads = [] {
  std::array<double, 255> loads{};
  double load = 1.0 / 64;
  for (double& l : loads) {
    l = load;
    load *= 1.05;
  }
  return loads;
}();

uint8_t Tos(uint8_t dscp, uint8_t ecn) { return static_cast<uint8_t>(dscp << 2 | ecn); }

}  // namespace

uint32_t FrameWriter::Write(const DataHeader& h, PathId path, bool retransmit,
                            std::byte* out) const {
  const uint32_t room = InBandBytes(h.in_band());
  const uint32_t weir = kDataHeaderBytes + room;
  const uint8_t dscp = retransmit ? kDscpRetransmit : kDscpData;
  Writer w(out + Prefix(weir, h.payload, Tos(dscp, kEcnCapable), path, out));
  w.U8(FirstByte(DataHeader::kType));
  w.U8(h.flags);
  w.U16(h.payload);
  w.U32(h.to.value);
  w.U32(h.psn.value());
  w.U64(static_cast<uint64_t>(h.attempt) << 56 | (h.address & 0xFFFF'FFFF'FFFF));
  w.U32(h.message);
  w.U32(h.length);
  w.U32(h.target);
  w.U32(h.demand);
  w.U32(h.payload_crc);
  w.Checksum();
  if (room > 0) std::memset(out + prefix_size_ + kDataHeaderBytes, 0, room);
  return prefix_size_ + weir;
}

uint32_t FrameWriter::Write(const AckHeader& h, PathId path, std::byte* out) const {
  const uint32_t weir = kAckFixedBytes + h.words * 16u + h.records * kRecordBytes;
  Writer w(out + Prefix(weir, 0, Tos(kDscpControl, 0), path, out));
  w.U8(FirstByte(AckHeader::kType));
  w.U8(static_cast<uint8_t>((h.flags & kAckFlags) | h.receiver_level << kLevelShift));
  w.U8(h.words);
  w.U8(h.records);
  w.U32(h.to.value);
  w.U32(h.cumulative.value());
  w.U32(h.base.value());
  w.U32(h.echo.value());
  w.U8(h.attempt);
  w.U8(EncodeLoad(h.path_load));
  w.U16(0);
  w.U64(static_cast<uint64_t>(h.hold.count()));
  w.U32(h.credit);
  w.U32(h.receives);
  for (int i = 0; i < h.words; ++i) {
    w.U64(h.arrived[i]);
    w.U64(h.marked[i]);
  }
  for (int i = 0; i < h.records; ++i) WriteRecord(w, h.telemetry[i]);
  w.Checksum();
  return prefix_size_ + weir;
}

uint32_t FrameWriter::Write(const TrimNotice& h, PathId path, std::byte* out) const {
  Writer w(out + Prefix(kTrimNoticeBytes, 0, Tos(kDscpControl, 0), path, out));
  w.U8(FirstByte(TrimNotice::kType));
  w.U8(h.flags);
  w.U16(0);
  w.U32(h.to.value);
  w.U32(h.psn.value());
  w.U32(h.attempt);
  w.Checksum();
  return prefix_size_ + w.size();
}

uint32_t FrameWriter::Write(const ControlHeader& h, PathId path, std::byte* out) const {
  const bool with_data = h.type == PacketType::kPathProbe;
  const uint8_t tos = with_data ? Tos(kDscpData, kEcnCapable) : Tos(kDscpControl, 0);
  Writer w(out + Prefix(kControlBytes, 0, tos, path, out));
  w.U8(FirstByte(h.type));
  w.U8(h.flags);
  w.U16(0);
  w.U32(h.to.value);
  w.U32(h.from.value);
  w.U32(h.value);
  w.Checksum();
  return prefix_size_ + w.size();
}

uint32_t FrameWriter::Write(const OpenHeader& h, PathId path, std::byte* out,
                            uint32_t padding) const {
  Writer w(out + Prefix(kOpenBytes, padding, Tos(kDscpControl, 0), path, out));
  w.U8(FirstByte(h.type));
  w.U8(h.flags);
  w.U16(h.scheduler);
  w.U32(h.to.value);
  w.U32(h.from.value);
  w.U64(h.nonce);
  w.U32(h.first_psn.value());
  w.U16(h.payload_max);
  w.U16(h.window);
  w.U32(h.receives);
  w.U32(h.ack_every);
  w.U32(h.cnp_interval);
  w.U32(0);
  w.Raw(h.algorithm.data(), h.algorithm.size());
  w.Raw(h.policy.data(), h.policy.size());
  w.Checksum();
  return prefix_size_ + w.size();
}

uint32_t FrameWriter::Write(const RefuseHeader& h, PathId path, std::byte* out) const {
  Writer w(out + Prefix(kRefuseBytes, 0, Tos(kDscpControl, 0), path, out));
  w.U8(FirstByte(RefuseHeader::kType));
  w.U8(static_cast<uint8_t>(h.cause));
  w.U16(0);
  w.U32(h.to.value);
  w.U64(h.nonce);
  w.U32(h.detail);
  w.Checksum();
  return prefix_size_ + w.size();
}

WireError Read(std::span<const std::byte> packet, DataHeader& h) {
  if (packet.size() < kDataHeaderBytes) return WireError::kShort;
  if (!TypeIs(packet, DataHeader::kType)) return WireError::kField;
  Reader r(packet.data() + 1);
  h.flags = r.U8();
  h.payload = r.U16();
  h.to.value = r.U32();
  h.psn = Psn(r.U32());
  const uint64_t word = r.U64();
  h.attempt = static_cast<uint8_t>(word >> 56);
  h.address = word & 0xFFFF'FFFF'FFFF;
  h.message = r.U32();
  h.length = r.U32();
  h.target = r.U32();
  h.demand = r.U32();
  h.payload_crc = r.U32();
  const uint32_t want = Crc32c(0, packet.first(kDataHeaderBytes - 4));
  if (r.U32() != want) return WireError::kChecksum;
  if (h.payload > h.length) return WireError::kField;
  constexpr uint8_t kBoth = DataHeader::kTelemetry | DataHeader::kPathLoad;
  if ((h.flags & kBoth) == kBoth) return WireError::kField;
  if (packet.size() < kDataHeaderBytes + InBandBytes(h.in_band())) return WireError::kShort;
  return WireError::kNone;
}

WireError Read(std::span<const std::byte> packet, AckHeader& h) {
  if (packet.size() < kAckFixedBytes) return WireError::kShort;
  if (!TypeIs(packet, AckHeader::kType)) return WireError::kField;
  Reader r(packet.data() + 1);
  const uint8_t flags = r.U8();
  h.flags = flags & kAckFlags;
  h.receiver_level = static_cast<uint8_t>(flags >> kLevelShift);
  h.words = r.U8();
  h.records = r.U8();
  if (h.words > kSackWords || h.records > kMaxHops) return WireError::kField;
  const size_t size = kAckFixedBytes + h.words * 16u + h.records * kRecordBytes;
  if (packet.size() < size) return WireError::kShort;
  const uint32_t want = Crc32c(0, packet.first(size - 4));
  if (Reader(packet.data() + size - 4).U32() != want) return WireError::kChecksum;
  h.to.value = r.U32();
  h.cumulative = Psn(r.U32());
  h.base = Psn(r.U32());
  h.echo = Psn(r.U32());
  h.attempt = r.U8();
  h.path_load = DecodeLoad(r.U8());
  r.U16();
  h.hold = Duration(static_cast<int64_t>(r.U64()));
  h.credit = r.U32();
  h.receives = r.U32();
  for (int i = 0; i < h.words; ++i) {
    h.arrived[i] = r.U64();
    h.marked[i] = r.U64();
  }
  for (int i = 0; i < h.records; ++i) h.telemetry[i] = ReadRecord(r);
  if (h.hold < Duration(0) || h.base.value() % 64 != 0) return WireError::kField;
  return WireError::kNone;
}

WireError Read(std::span<const std::byte> packet, TrimNotice& h) {
  if (packet.size() < kTrimNoticeBytes) return WireError::kShort;
  if (!TypeIs(packet, TrimNotice::kType)) return WireError::kField;
  Reader all(packet.data());
  all.U8();
  h.flags = all.U8();
  all.U16();
  h.to.value = all.U32();
  h.psn = Psn(all.U32());
  h.attempt = static_cast<uint8_t>(all.U32());
  return all.Checksum() ? WireError::kNone : WireError::kChecksum;
}

WireError Read(std::span<const std::byte> packet, ControlHeader& h) {
  if (packet.size() < kControlBytes) return WireError::kShort;
  Reader all(packet.data());
  h.type = static_cast<PacketType>(all.U8() & 15);
  h.flags = all.U8();
  all.U16();
  h.to.value = all.U32();
  h.from.value = all.U32();
  h.value = all.U32();
  return all.Checksum() ? WireError::kNone : WireError::kChecksum;
}

WireError Read(std::span<const std::byte> packet, OpenHeader& h) {
  if (packet.size() < kOpenBytes) return WireError::kShort;
  Reader all(packet.data());
  h.type = static_cast<PacketType>(all.U8() & 15);
  if (h.type != PacketType::kOpen && h.type != PacketType::kAccept) return WireError::kField;
  h.flags = all.U8();
  h.scheduler = all.U16();
  h.to.value = all.U32();
  h.from.value = all.U32();
  h.nonce = all.U64();
  h.first_psn = Psn(all.U32());
  h.payload_max = all.U16();
  h.window = all.U16();
  h.receives = all.U32();
  h.ack_every = all.U32();
  h.cnp_interval = all.U32();
  all.U32();
  all.Raw(h.algorithm.data(), h.algorithm.size());
  all.Raw(h.policy.data(), h.policy.size());
  if (!all.Checksum()) return WireError::kChecksum;
  constexpr uint8_t kBoth = OpenHeader::kTelemetry | OpenHeader::kPathLoad;
  const bool legal = (h.flags & kBoth) != kBoth && h.from.value != 0 &&
                     h.payload_max >= kPayloadMin && h.window >= 128 &&
                     std::has_single_bit(h.window);
  return legal ? WireError::kNone : WireError::kField;
}

WireError Read(std::span<const std::byte> packet, RefuseHeader& h) {
  if (packet.size() < kRefuseBytes) return WireError::kShort;
  Reader all(packet.data());
  all.U8();
  h.cause = static_cast<RefuseCause>(all.U8());
  all.U16();
  h.to.value = all.U32();
  h.nonce = all.U64();
  h.detail = all.U32();
  return all.Checksum() ? WireError::kNone : WireError::kChecksum;
}

uint8_t EncodeLoad(double load, double up) {
  if (load <= 0) return 0;
  if (load <= kLoads.front()) return 1;
  const auto above = std::upper_bound(kLoads.begin(), kLoads.end(), load);
  const auto code = static_cast<uint8_t>(above - kLoads.begin());  // of the one below
  if (above == kLoads.end()) return code;
  // Of a value between two codes so much of the way, linearly, is the chance of the upper one.
  const double below = *(above - 1);
  return (load - below) / (*above - below) > up ? static_cast<uint8_t>(code + 1) : code;
}

double DecodeLoad(uint8_t code) { return code == 0 ? 0 : kLoads[code - 1u]; }

}  // namespace weir
