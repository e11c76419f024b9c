// The layers below Weir's own packets: Ethernet, IP, UDP.
#include <algorithm>
#include <cstring>

#include "datapath/wire.h"
#include "datapath/wire_codec.h"

namespace weir {
namespace {

using wire::IsV6;
using wire::Load16;
using wire::LoadTos;
using wire::Reader;
using wire::Store16;
using wire::Writer;

constexpr uint16_t kEtherIpv4 = 0x0800;
constexpr uint16_t kEtherIpv6 = 0x86DD;
constexpr uint16_t kEtherVlan = 0x8100;
constexpr uint8_t kProtocolUdp = 17;
constexpr uint8_t kHopLimit = 64;

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

// The room of such a kind in a data packet, or nullptr. `frame` are the header bytes.
template <class Byte>
Byte* RoomFor(std::span<Byte> frame, InBand in_band) {
  const uint32_t ip_at = IpOffset(frame);
  const uint32_t at = ip_at + IpBytes(IsV6(frame.data() + ip_at)) + kUdpBytes;
  if (frame.size() < at + kDataHeaderBytes + InBandBytes(in_band)) return nullptr;
  Byte* packet = frame.data() + at;
  const bool room = wire::TypeIs(frame.subspan(at), DataHeader::kType) &&
                    DataHeader::InBandOf(static_cast<uint8_t>(packet[1])) == in_band;
  return room ? packet + kDataHeaderBytes : nullptr;
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

FrameWriter::FrameWriter(const NetAddress& from, const NetAddress& to, uint16_t entropy,
                         uint32_t worker)
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
  w.U16(UdpPortOf(worker));
  w.U16(0);  // length
  w.U16(0);  // checksum: none, so that a path costs nothing (RFC 6935 for IPv6)
}

void FrameWriter::SetWorker(uint32_t worker) {
  Store16(prefix_.data() + prefix_size_ - kUdpBytes + 2, UdpPortOf(worker));
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

uint32_t FrameWriter::WriteArrived(const NetAddress& from, uint16_t from_port, const NetAddress& to,
                                   uint16_t to_port, uint8_t tos, uint32_t bytes, std::byte* out) {
  const FrameWriter writer(from, to, from_port, static_cast<uint32_t>(to_port - kUdpPort));
  return writer.Prefix(0, bytes, tos, 0, out);
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
  const int worker = Load16(udp + 2) - kUdpPort;
  if (worker < 0 || worker >= static_cast<int>(kWorkersMax)) return WireError::kNotOurs;

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

// Layout of the room for records: a count, then each as in an acknowledgement.
void AppendTelemetry(std::span<std::byte> frame, const SwitchRecord& record) {
  std::byte* area = RoomFor(frame, InBand::kTelemetry);
  if (area == nullptr) return;
  const auto count = static_cast<uint8_t>(area[0]);
  if (count >= kMaxHops) return;
  area[0] = std::byte{static_cast<uint8_t>(count + 1)};
  Writer w(area + 4 + count * wire::kRecordBytes);
  wire::WriteRecord(w, record);
}

int ReadTelemetry(std::span<const std::byte> packet, std::array<SwitchRecord, kMaxHops>& out) {
  const std::byte* area = packet.data() + kDataHeaderBytes;
  const auto count = static_cast<uint8_t>(area[0]);
  if (count > kMaxHops) return 0;
  Reader r(area + 4);
  for (int i = 0; i < count; ++i) out[i] = wire::ReadRecord(r);
  return count;
}

bool HasPathLoad(std::span<const std::byte> frame) {
  return RoomFor(frame, InBand::kPathLoad) != nullptr;
}

void RaisePathLoad(std::span<std::byte> frame, uint8_t code) {
  std::byte* area = RoomFor(frame, InBand::kPathLoad);
  if (area != nullptr) area[0] = std::max(area[0], std::byte{code});
}

double ReadPathLoad(std::span<const std::byte> packet) {
  return DecodeLoad(static_cast<uint8_t>(packet[kDataHeaderBytes]));
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
