#include "datapath/wire.h"

#include <bit>
#include <cstring>

namespace weir {
namespace {

constexpr uint16_t kEtherIpv4 = 0x0800;
constexpr uint16_t kEtherIpv6 = 0x86DD;
constexpr uint16_t kEtherVlan = 0x8100;
constexpr uint8_t kProtocolUdp = 17;
constexpr uint8_t kHopLimit = 64;
constexpr uint32_t kAckFixedBytes = 44;
constexpr uint32_t kTrimNoticeBytes = 20;
constexpr uint32_t kControlBytes = 20;
constexpr uint32_t kOpenBytes = 80;
constexpr uint32_t kRefuseBytes = 24;
constexpr uint32_t kRecordBytes = 24;
constexpr int64_t kRecordRateUnit = 100'000'000;  // bits a second

// Writes fields in order; the bytes before the checksum are those it covers.
class Writer {
 public:
  explicit Writer(std::byte* out) : begin_(out), at_(out) {}
  void U8(uint8_t v) { *at_++ = std::byte{v}; }
  void U16(uint16_t v) { Put(__builtin_bswap16(v)); }
  void U32(uint32_t v) { Put(__builtin_bswap32(v)); }
  void U64(uint64_t v) { Put(__builtin_bswap64(v)); }
  void Raw(const void* p, size_t n) {
    std::memcpy(at_, p, n);
    at_ += n;
  }
  void Checksum() { U32(Crc32c(0, {begin_, static_cast<size_t>(at_ - begin_)})); }
  uint32_t size() const { return static_cast<uint32_t>(at_ - begin_); }

 private:
  template <class T>
  void Put(T v) {
    std::memcpy(at_, &v, sizeof v);
    at_ += sizeof v;
  }
  std::byte* begin_;
  std::byte* at_;
};

// Reads fields in order. The caller has checked the length.
class Reader {
 public:
  explicit Reader(const std::byte* in) : begin_(in), at_(in) {}
  uint8_t U8() { return static_cast<uint8_t>(*at_++); }
  uint16_t U16() { return __builtin_bswap16(Get<uint16_t>()); }
  uint32_t U32() { return __builtin_bswap32(Get<uint32_t>()); }
  uint64_t U64() { return __builtin_bswap64(Get<uint64_t>()); }
  void Raw(void* p, size_t n) {
    std::memcpy(p, at_, n);
    at_ += n;
  }
  bool Checksum() {
    const uint32_t want = Crc32c(0, {begin_, static_cast<size_t>(at_ - begin_)});
    return U32() == want;
  }

 private:
  template <class T>
  T Get() {
    T v;
    std::memcpy(&v, at_, sizeof v);
    at_ += sizeof v;
    return v;
  }
  const std::byte* begin_;
  const std::byte* at_;
};

uint8_t FirstByte(PacketType type) {
  return static_cast<uint8_t>(kWireVersion << 4 | static_cast<uint8_t>(type));
}
uint8_t Tos(uint8_t dscp, uint8_t ecn) { return static_cast<uint8_t>(dscp << 2 | ecn); }

uint16_t Load16(const std::byte* p) {
  return static_cast<uint16_t>(static_cast<uint8_t>(p[0]) << 8 | static_cast<uint8_t>(p[1]));
}
void Store16(std::byte* p, uint16_t v) {
  p[0] = std::byte{static_cast<uint8_t>(v >> 8)};
  p[1] = std::byte{static_cast<uint8_t>(v)};
}
uint16_t FoldedComplement(uint32_t sum) {
  sum = (sum & 0xFFFF) + (sum >> 16);
  sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}
uint32_t SumWords(const std::byte* p, size_t bytes) {
  uint32_t sum = 0;
  for (size_t i = 0; i < bytes; i += 2) sum += Load16(p + i);
  return sum;
}

// Offset of the IP header, behind a VLAN tag if there is one.
uint32_t IpOffset(std::span<const std::byte> frame) {
  return Load16(frame.data() + 12) == kEtherVlan ? kEthernetBytes + 4 : kEthernetBytes;
}
bool IsV6(const std::byte* ip) { return static_cast<uint8_t>(ip[0]) >> 4 == 6; }

uint8_t LoadTos(const std::byte* ip) {
  if (!IsV6(ip)) return static_cast<uint8_t>(ip[1]);
  return static_cast<uint8_t>(Load16(ip) >> 4);
}
void StoreTos(std::byte* ip, uint8_t tos) {
  if (IsV6(ip)) {
    Store16(ip, static_cast<uint16_t>((Load16(ip) & 0xF00F) | tos << 4));
    return;
  }
  ip[1] = std::byte{tos};
  Store16(ip + 10, 0);
  Store16(ip + 10, FoldedComplement(SumWords(ip, 20)));
}

bool TypeIs(std::span<const std::byte> packet, PacketType type) {
  return static_cast<uint8_t>(packet[0]) == FirstByte(type);
}

}  // namespace

NetAddress NetAddress::V4(uint32_t ip, uint64_t mac) {
  NetAddress a;
  for (int i = 0; i < 4; ++i) a.ip[12 + i] = static_cast<uint8_t>(ip >> (24 - 8 * i));
  for (int i = 0; i < 6; ++i) a.mac[i] = static_cast<uint8_t>(mac >> (40 - 8 * i));
  return a;
}
NetAddress NetAddress::V6(uint64_t high, uint64_t low, uint64_t mac) {
  NetAddress a = V4(0, mac);
  a.v6 = true;
  for (int i = 0; i < 8; ++i) {
    a.ip[i] = static_cast<uint8_t>(high >> (56 - 8 * i));
    a.ip[8 + i] = static_cast<uint8_t>(low >> (56 - 8 * i));
  }
  return a;
}
uint32_t NetAddress::v4() const {
  return static_cast<uint32_t>(ip[12]) << 24 | static_cast<uint32_t>(ip[13]) << 16 |
         static_cast<uint32_t>(ip[14]) << 8 | ip[15];
}

FrameWriter::FrameWriter(const NetAddress& from, const NetAddress& to, uint16_t entropy)
    : prefix_size_(kEthernetBytes + IpBytes(to.v6) + kUdpBytes), entropy_(entropy), v6_(to.v6) {
  Writer w(prefix_.data());
  w.Raw(to.mac.data(), 6);
  w.Raw(from.mac.data(), 6);
  if (v6_) {
    w.U16(kEtherIpv6);
    w.U32(0x6000'0000);
    w.U16(0);  // length
    w.U8(kProtocolUdp);
    w.U8(kHopLimit);
    w.Raw(from.ip.data(), 16);
    w.Raw(to.ip.data(), 16);
  } else {
    w.U16(kEtherIpv4);
    w.U16(0x4500);
    w.U16(0);       // length
    w.U16(0);       // identification
    w.U16(0x4000);  // do not fragment
    w.U8(kHopLimit);
    w.U8(kProtocolUdp);
    w.U16(0);  // checksum
    w.Raw(from.ip.data() + 12, 4);
    w.Raw(to.ip.data() + 12, 4);
    ip_sum_ = SumWords(prefix_.data() + kEthernetBytes, 20);
  }
  w.U16(0);  // UDP source: the path
  w.U16(kUdpPort);
  w.U16(0);  // length
  w.U16(0);  // checksum: none, so that a path costs nothing (RFC 6935 for IPv6)
}

uint32_t FrameWriter::Prefix(uint32_t weir_bytes, uint32_t payload, uint8_t tos, PathId path,
                             std::byte* out) const {
  std::memcpy(out, prefix_.data(), prefix_size_);
  const uint32_t udp_length = kUdpBytes + weir_bytes + payload;
  std::byte* ip = out + kEthernetBytes;
  if (v6_) {
    StoreTos(ip, tos);
    Store16(ip + 4, static_cast<uint16_t>(udp_length));
  } else {
    const uint16_t length = static_cast<uint16_t>(20 + udp_length);
    ip[1] = std::byte{tos};
    Store16(ip + 2, length);
    Store16(ip + 10, FoldedComplement(ip_sum_ + tos + length));
  }
  std::byte* udp = ip + IpBytes(v6_);
  Store16(udp, static_cast<uint16_t>(entropy_ + path));
  Store16(udp + 4, static_cast<uint16_t>(udp_length));
  return prefix_size_;
}

uint32_t FrameWriter::Write(const DataHeader& h, PathId path, bool retransmit,
                            std::byte* out) const {
  const bool telemetry = (h.flags & DataHeader::kTelemetry) != 0;
  const uint32_t weir = kDataHeaderBytes + (telemetry ? kTelemetryBytes : 0);
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
  if (telemetry) std::memset(out + prefix_size_ + kDataHeaderBytes, 0, kTelemetryBytes);
  return prefix_size_ + weir;
}

uint32_t FrameWriter::Write(const AckHeader& h, PathId path, std::byte* out) const {
  const uint32_t weir = kAckFixedBytes + h.words * 16u + h.records * kRecordBytes;
  Writer w(out + Prefix(weir, 0, Tos(kDscpControl, 0), path, out));
  w.U8(FirstByte(AckHeader::kType));
  w.U8(h.flags);
  w.U8(h.words);
  w.U8(h.records);
  w.U32(h.to.value);
  w.U32(h.cumulative.value());
  w.U32(h.base.value());
  w.U32(h.echo.value());
  w.U32(h.attempt);
  w.U64(static_cast<uint64_t>(h.hold.count()));
  w.U32(h.credit);
  w.U32(h.receives);
  for (int i = 0; i < h.words; ++i) {
    w.U64(h.arrived[i]);
    w.U64(h.marked[i]);
  }
  for (int i = 0; i < h.records; ++i) {
    const SwitchRecord& r = h.telemetry[i];
    w.U64(static_cast<uint64_t>(r.stamp.nanos()));
    w.U64(static_cast<uint64_t>(r.transmitted.count()));
    w.U32(static_cast<uint32_t>(r.queue.count()));
    w.U16(static_cast<uint16_t>(r.rate.count() / kRecordRateUnit));
    w.U16(r.hop);
  }
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
  Writer w(out + Prefix(kControlBytes, 0, Tos(kDscpControl, 0), path, out));
  w.U8(FirstByte(h.type));
  w.U8(h.flags);
  w.U16(0);
  w.U32(h.to.value);
  w.U32(h.from.value);
  w.U32(h.value);
  w.Checksum();
  return prefix_size_ + w.size();
}

uint32_t FrameWriter::Write(const OpenHeader& h, PathId path, std::byte* out) const {
  Writer w(out + Prefix(kOpenBytes, 0, Tos(kDscpControl, 0), path, out));
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

WireError ReadFrame(std::span<const std::byte> frame, FrameInfo& info) {
  if (frame.size() < kEthernetBytes + 4 + 20 + kUdpBytes) return WireError::kShort;
  const uint32_t ip_at = IpOffset(frame);
  const uint16_t ether = Load16(frame.data() + ip_at - 2);
  const bool v6 = ether == kEtherIpv6;
  if (!v6 && ether != kEtherIpv4) return WireError::kNotOurs;
  const uint32_t udp_at = ip_at + IpBytes(v6);
  if (frame.size() < udp_at + kUdpBytes + 8) return WireError::kShort;
  const std::byte* ip = frame.data() + ip_at;
  const std::byte* udp = frame.data() + udp_at;
  const auto protocol = static_cast<uint8_t>(ip[v6 ? 6 : 9]);
  const auto first = static_cast<uint8_t>(ip[0]);
  if (protocol != kProtocolUdp || (v6 ? first >> 4 != 6 : first != 0x45)) {
    return WireError::kNotOurs;
  }
  if (!v6 && FoldedComplement(SumWords(ip, 20)) != 0) return WireError::kChecksum;
  info.udp_from = Load16(udp);
  info.udp_to = Load16(udp + 2);
  if (info.udp_to != kUdpPort) return WireError::kNotOurs;

  info.from = NetAddress{};
  info.from.v6 = v6;
  if (v6) {
    std::memcpy(info.from.ip.data(), ip + 8, 16);
  } else {
    std::memcpy(info.from.ip.data() + 12, ip + 12, 4);
  }
  std::memcpy(info.from.mac.data(), frame.data() + 6, 6);
  const uint8_t tos = LoadTos(ip);
  info.marked = (tos & 3) == kEcnMarked;
  info.trimmed_last_hop = tos >> 2 == kDscpTrimmedLastHop;
  info.trimmed = info.trimmed_last_hop || tos >> 2 == kDscpTrimmed;
  info.packet = frame.subspan(udp_at + kUdpBytes);
  info.version = static_cast<uint8_t>(info.packet[0]) >> 4;
  info.type = static_cast<PacketType>(static_cast<uint8_t>(info.packet[0]) & 15);
  // A refusal is the same in all versions: it says which one is spoken.
  const bool readable = info.version == kWireVersion || info.type == PacketType::kRefuse;
  return readable ? WireError::kNone : WireError::kVersion;
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
  const bool telemetry = (h.flags & DataHeader::kTelemetry) != 0;
  if (telemetry && packet.size() < kDataHeaderBytes + kTelemetryBytes) return WireError::kShort;
  return WireError::kNone;
}

WireError Read(std::span<const std::byte> packet, AckHeader& h) {
  if (packet.size() < kAckFixedBytes) return WireError::kShort;
  if (!TypeIs(packet, AckHeader::kType)) return WireError::kField;
  Reader r(packet.data() + 1);
  h.flags = r.U8();
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
  h.attempt = static_cast<uint8_t>(r.U32());
  h.hold = Duration(static_cast<int64_t>(r.U64()));
  h.credit = r.U32();
  h.receives = r.U32();
  for (int i = 0; i < h.words; ++i) {
    h.arrived[i] = r.U64();
    h.marked[i] = r.U64();
  }
  for (int i = 0; i < h.records; ++i) {
    SwitchRecord& record = h.telemetry[i];
    record.stamp = Time(static_cast<int64_t>(r.U64()));
    record.transmitted = Bytes(static_cast<int64_t>(r.U64()));
    record.queue = Bytes(r.U32());
    record.rate = Rate(r.U16() * kRecordRateUnit);
    record.hop = r.U16();
  }
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
  const bool legal = h.from.value != 0 && h.payload_max > 0 && h.window >= 128 &&
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

// Layout of the reserved room: a count, then records as in an acknowledgement.
void AppendTelemetry(std::span<std::byte> frame, const SwitchRecord& record) {
  const uint32_t ip_at = IpOffset(frame);
  const uint32_t at = ip_at + IpBytes(IsV6(frame.data() + ip_at)) + kUdpBytes;
  if (frame.size() < at + kDataHeaderBytes + kTelemetryBytes) return;
  std::byte* packet = frame.data() + at;
  const bool room = TypeIs(frame.subspan(at), DataHeader::kType) &&
                    (static_cast<uint8_t>(packet[1]) & DataHeader::kTelemetry) != 0;
  if (!room) return;
  std::byte* area = packet + kDataHeaderBytes;
  const auto count = static_cast<uint8_t>(area[0]);
  if (count >= kMaxHops) return;
  area[0] = std::byte{static_cast<uint8_t>(count + 1)};
  Writer w(area + 4 + count * kRecordBytes);
  w.U64(static_cast<uint64_t>(record.stamp.nanos()));
  w.U64(static_cast<uint64_t>(record.transmitted.count()));
  w.U32(static_cast<uint32_t>(record.queue.count()));
  w.U16(static_cast<uint16_t>(record.rate.count() / kRecordRateUnit));
  w.U16(record.hop);
}

int ReadTelemetry(std::span<const std::byte> packet, std::array<SwitchRecord, kMaxHops>& out) {
  const std::byte* area = packet.data() + kDataHeaderBytes;
  const auto count = static_cast<uint8_t>(area[0]);
  if (count > kMaxHops) return 0;
  Reader r(area + 4);
  for (int i = 0; i < count; ++i) {
    out[i].stamp = Time(static_cast<int64_t>(r.U64()));
    out[i].transmitted = Bytes(static_cast<int64_t>(r.U64()));
    out[i].queue = Bytes(r.U32());
    out[i].rate = Rate(r.U16() * kRecordRateUnit);
    out[i].hop = r.U16();
  }
  return count;
}

void MarkFrame(std::span<std::byte> frame) {
  std::byte* ip = frame.data() + IpOffset(frame);
  const uint8_t tos = LoadTos(ip);
  if ((tos & 3) != 0) StoreTos(ip, tos | kEcnMarked);
}

void SetFrameDscp(std::span<std::byte> frame, uint8_t dscp) {
  std::byte* ip = frame.data() + IpOffset(frame);
  StoreTos(ip, static_cast<uint8_t>(dscp << 2 | (LoadTos(ip) & 3)));
}

}  // namespace weir
