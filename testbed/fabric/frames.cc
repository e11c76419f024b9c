#include "testbed/fabric/frames.h"

#include <algorithm>
#include <cstring>

#include "datapath/api/rng.h"
#include "testbed/fabric/host_address.h"

namespace weir {
namespace {

uint32_t Load32(const std::byte* p) {
  uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap32(v);
}

bool IsV6(std::span<const std::byte> headers) {
  return (static_cast<uint8_t>(headers[kEthernetBytes]) >> 4) == 6;
}

uint32_t DscpOf(std::span<const std::byte> headers) {
  const std::byte* ip = headers.data() + kEthernetBytes;
  const uint32_t tos = IsV6(headers) ? Load32(ip) >> 20 & 0xFF : static_cast<uint8_t>(ip[1]);
  return tos >> 2;
}

static_assert(kDscpData % kTrafficClasses == 0 && kDscpRetransmit % kTrafficClasses == 0);

}  // namespace

FrameClass ClassOf(std::span<const std::byte> headers) {
  const uint32_t dscp = DscpOf(headers);
  if (dscp >= kDscpData && dscp < kDscpData + kTrafficClasses) return FrameClass::kData;
  if (dscp >= kDscpRetransmit && dscp < kDscpRetransmit + kTrafficClasses) {
    return FrameClass::kRetransmit;
  }
  return FrameClass::kControl;
}

uint32_t HeaderBytes(std::span<const std::byte> frame) {
  const uint32_t weir = kEthernetBytes + IpBytes(IsV6(frame)) + kUdpBytes;
  const auto size = static_cast<uint32_t>(frame.size());
  if (size < weir + kDataHeaderBytes) return size;
  const auto type = static_cast<uint8_t>(frame[weir]) & 15;
  if (type != static_cast<uint8_t>(DataHeader::kType)) return size;
  const uint32_t room = InBandBytes(DataHeader::InBandOf(static_cast<uint8_t>(frame[weir + 1])));
  return std::min(size, weir + kDataHeaderBytes + room);
}

bool ReadDataHeader(std::span<const std::byte> headers, DataHeader& out) {
  FrameInfo info;
  return ReadFrame(headers, info) == WireError::kNone && Read(info.packet, out) == WireError::kNone;
}

void DescribePacket(std::span<const std::byte> headers, uint32_t payload, FrameClass cls,
                    uint32_t from, Packet& packet) {
  const std::byte* ip = headers.data() + kEthernetBytes;
  const bool v6 = IsV6(headers);
  packet.to = HostOfIp(Load32(ip + (v6 ? 36 : 16)), v6);
  const uint32_t ports = Load32(ip + IpBytes(v6));
  packet.flow_hash =
      static_cast<uint32_t>(Mix64(Mix64(static_cast<uint64_t>(from) << 32 | packet.to) ^ ports));
  packet.header = static_cast<uint16_t>(headers.size());
  packet.payload = static_cast<uint16_t>(payload);
  packet.wire = static_cast<uint16_t>(headers.size() + payload + kFcsBytes);
  packet.cls = cls;
  const bool data = cls != FrameClass::kControl;
  packet.ecn_capable = packet.trimmable = data;
  packet.marked = packet.trimmed = packet.trimmed_last_hop = false;
  packet.traffic_class = data ? static_cast<uint8_t>(DscpOf(headers) % kTrafficClasses) : 0;
  packet.in_band = data;  // whoever writes looks for the room
}

void WriteFate(const Packet& packet, std::span<std::byte> headers) {
  if (packet.marked) MarkFrame(headers);
  if (packet.trimmed) {
    SetFrameDscp(headers, packet.trimmed_last_hop ? kDscpTrimmedLastHop : kDscpTrimmed);
  }
}

}  // namespace weir
