#include "nic_drivers/sorter.h"

#include <cstring>

#include "datapath/wire_codec.h"

namespace weir {
namespace {

using wire::Load16;

constexpr uint16_t kEtherIpv4 = 0x0800;
constexpr uint16_t kEtherArp = 0x0806;
constexpr uint16_t kEtherVlan = 0x8100;
constexpr uint16_t kEtherIpv6 = 0x86DD;
constexpr uint8_t kUdp = 17;
constexpr uint8_t kIcmpV6 = 58;
constexpr int kVlanMask = 0xFFF;

uint8_t Byte(const std::byte* p) { return static_cast<uint8_t>(*p); }

}  // namespace

bool Sorter::IsSelf(const std::byte* ip) const {
  if (self_.v6) return std::memcmp(ip + 24, self_.ip.data(), 16) == 0;
  return std::memcmp(ip + 16, self_.ip.data() + 12, 4) == 0;
}

Sorted Sorter::Sort(std::span<const std::byte> head, int stripped) const {
  Sorted out;
  uint32_t at = kEthernetBytes;
  if (head.size() < at + 4) return out;
  int vlan = stripped;
  if (Load16(head.data() + 12) == kEtherVlan) {
    vlan = Load16(head.data() + 14);
    at += 4;
  }
  vlan = vlan < 0 ? 0 : vlan & kVlanMask;
  if (vlan != (vlan_ < 0 ? 0 : vlan_)) return out;

  const uint16_t ether = Load16(head.data() + at - 2);
  out.ip_at = at;
  if (ether == kEtherArp) {
    out.kind = self_.v6 ? Arrival::kForeign : Arrival::kNeighbour;
    return out;
  }
  if (ether != (self_.v6 ? kEtherIpv6 : kEtherIpv4)) return out;
  const uint32_t udp_at = at + IpBytes(self_.v6);
  if (head.size() < udp_at + kUdpBytes + 2) return out;
  const std::byte* ip = head.data() + at;
  const uint8_t protocol = Byte(ip + (self_.v6 ? 6 : 9));
  out.length = at + (self_.v6 ? 40u + Load16(ip + 4) : Load16(ip + 2));
  if (self_.v6 && protocol == kIcmpV6) {
    out.kind = Arrival::kNeighbour;
    return out;
  }
  if (protocol != kUdp || (!self_.v6 && Byte(ip) != 0x45) || !IsSelf(ip)) return out;
  const std::byte* udp = head.data() + udp_at;
  const int worker = Load16(udp + 2) - kUdpPort;
  if (worker < 0 || worker >= static_cast<int>(kWorkersMax)) return out;
  out.kind = Arrival::kWeir;
  out.worker = static_cast<uint16_t>(worker);
  const std::byte* packet = udp + kUdpBytes;
  if ((Byte(packet) & 15) == static_cast<uint8_t>(DataHeader::kType)) {
    const uint32_t room = InBandBytes(DataHeader::InBandOf(Byte(packet + 1)));
    out.header = udp_at + kUdpBytes + kDataHeaderBytes + room;
  }
  return out;
}

}  // namespace weir
