#include "testbed/fabric/frames.h"

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

}  // namespace

void DescribePacket(std::span<const std::byte> headers, uint32_t payload, FrameClass cls,
                    uint32_t from, Packet& packet) {
  const std::byte* ip = headers.data() + kEthernetBytes;
  const bool v6 = (static_cast<uint8_t>(*ip) >> 4) == 6;
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
  packet.telemetry = data;  // AppendTelemetry looks for the room
}

void WriteFate(const Packet& packet, std::span<std::byte> headers) {
  if (packet.marked) MarkFrame(headers);
  if (packet.trimmed) {
    SetFrameDscp(headers, packet.trimmed_last_hop ? kDscpTrimmedLastHop : kDscpTrimmed);
  }
}

}  // namespace weir
