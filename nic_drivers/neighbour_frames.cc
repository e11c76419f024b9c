#include "nic_drivers/neighbour_frames.h"

#include <algorithm>
#include <cstring>

#include "datapath/wire_codec.h"

namespace weir {
namespace {

using wire::Load16;
using wire::Writer;

constexpr uint16_t kEtherArp = 0x0806;
constexpr uint16_t kEtherIpv6 = 0x86DD;
constexpr uint32_t kEthernetMin = 60;  // without FCS; shorter frames are padded
constexpr uint8_t kZeros[20] = {};

constexpr uint32_t kArpBytes = 28;
constexpr uint16_t kArpRequest = 1;
constexpr uint16_t kArpReply = 2;

constexpr uint32_t kIpBytes = 40;
constexpr uint8_t kIcmpV6 = 58;
constexpr uint8_t kHopLimit = 255;      // others have passed a router, and are not believed
constexpr uint32_t kMessageBytes = 24;  // without options
constexpr uint32_t kOptionBytes = 8;
constexpr uint8_t kSolicitation = 135;
constexpr uint8_t kAdvertisement = 136;
constexpr uint8_t kSourceMac = 1;
constexpr uint8_t kTargetMac = 2;
constexpr uint32_t kSolicited = 0x4000'0000;
constexpr uint32_t kOverride = 0x2000'0000;

using Mac = std::array<uint8_t, 6>;
using Ip = std::array<uint8_t, 16>;

// --- ARP ---

uint32_t WriteArp(uint16_t operation, const NetAddress& self, const Mac& to, const Mac& target_mac,
                  const uint8_t* target_ip, std::byte* out) {
  Writer w(out);
  w.Raw(to.data(), 6);
  w.Raw(self.mac.data(), 6);
  w.U16(kEtherArp);
  w.U16(1);       // Ethernet
  w.U16(0x0800);  // IPv4
  w.U8(6);
  w.U8(4);
  w.U16(operation);
  w.Raw(self.mac.data(), 6);
  w.Raw(self.ip.data() + 12, 4);
  w.Raw(target_mac.data(), 6);
  w.Raw(target_ip, 4);
  w.Raw(kZeros, kEthernetMin - kEthernetBytes - kArpBytes);
  return kEthernetMin;
}

NeighbourNews ReadArp(const NetAddress& self, std::span<const std::byte> packet, std::byte* out) {
  NeighbourNews news;
  const std::byte* p = packet.data();
  const bool sound = packet.size() >= kArpBytes && Load16(p) == 1 && Load16(p + 2) == 0x0800 &&
                     Load16(p + 4) == 0x0604;
  if (!sound) return news;
  const uint16_t operation = Load16(p + 6);
  const std::byte* sender_ip = p + 14;
  const bool for_us = std::memcmp(p + 24, self.ip.data() + 12, 4) == 0;
  const bool from_us = std::memcmp(sender_ip, self.ip.data() + 12, 4) == 0;
  news.valid = operation == kArpRequest || operation == kArpReply;
  if (!news.valid || !for_us || from_us) return news;
  std::memcpy(news.neighbour.mac.data(), p + 8, 6);
  // The sender of a probe (RFC 5227) has no address yet.
  news.learned = std::memcmp(sender_ip, kZeros, 4) != 0;
  std::memcpy(news.neighbour.ip.data() + 12, sender_ip, 4);
  if (operation == kArpRequest) {
    news.answer = WriteArp(kArpReply, self, news.neighbour.mac, news.neighbour.mac,
                           news.neighbour.ip.data() + 12, out);
  }
  return news;
}

// --- Neighbour discovery ---

uint32_t Sum(const std::byte* p, size_t bytes) {
  uint32_t sum = 0;
  for (size_t i = 0; i + 1 < bytes; i += 2) sum += Load16(p + i);
  return bytes % 2 == 0 ? sum : sum + (static_cast<uint32_t>(p[bytes - 1]) << 8);
}
// Over the pseudo-header (RFC 8200 section 8.1) and the message. 0 for a message with its checksum.
uint16_t IcmpChecksum(const std::byte* ip, uint32_t bytes) {
  uint32_t sum = Sum(ip + 8, 32) + bytes + kIcmpV6 + Sum(ip + kIpBytes, bytes);
  while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

struct Message {
  uint8_t type = 0;
  uint32_t flags = 0;
  Mac to_mac{};
  Ip to_ip{};
  Ip target{};
  uint8_t option = 0;
};

uint32_t WriteMessage(const NetAddress& self, const Message& m, std::byte* out) {
  Writer w(out);
  w.Raw(m.to_mac.data(), 6);
  w.Raw(self.mac.data(), 6);
  w.U16(kEtherIpv6);
  w.U32(0x6000'0000);
  w.U16(kMessageBytes + kOptionBytes);
  w.U8(kIcmpV6);
  w.U8(kHopLimit);
  w.Raw(self.ip.data(), 16);
  w.Raw(m.to_ip.data(), 16);
  w.U8(m.type);
  w.U8(0);
  w.U16(0);  // checksum
  w.U32(m.flags);
  w.Raw(m.target.data(), 16);
  w.U8(m.option);
  w.U8(1);  // 8 bytes
  w.Raw(self.mac.data(), 6);
  std::byte* ip = out + kEthernetBytes;
  wire::Store16(ip + kIpBytes + 2, IcmpChecksum(ip, kMessageBytes + kOptionBytes));
  return kNeighbourFrame;
}

// All that listen to addresses with the same last three bytes (RFC 4291 section 2.7.1).
uint32_t WriteSolicitation(const NetAddress& self, const Ip& target, std::byte* out) {
  Message m = {.type = kSolicitation, .target = target, .option = kSourceMac};
  m.to_mac = SolicitedGroup(target);
  m.to_ip = {0xFF, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xFF, target[13], target[14], target[15]};
  return WriteMessage(self, m, out);
}

uint32_t WriteAdvertisement(const NetAddress& self, const NetAddress& to, std::byte* out) {
  Message m = {.type = kAdvertisement, .target = self.ip, .option = kTargetMac};
  const bool nameless = to.ip == Ip{};  // it looks whether its address is taken
  m.flags = nameless ? kOverride : kOverride | kSolicited;
  m.to_mac = nameless ? Mac{0x33, 0x33, 0, 0, 0, 1} : to.mac;
  m.to_ip = nameless ? Ip{0xFF, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1} : to.ip;
  return WriteMessage(self, m, out);
}

// The MAC address in the options, if there is one.
bool FindMac(std::span<const std::byte> options, uint8_t kind, Mac& mac) {
  while (options.size() >= kOptionBytes) {
    const size_t bytes = static_cast<size_t>(options[1]) * 8;
    if (bytes == 0 || bytes > options.size()) return false;
    if (static_cast<uint8_t>(options[0]) == kind) {
      std::memcpy(mac.data(), options.data() + 2, 6);
      return true;
    }
    options = options.subspan(bytes);
  }
  return false;
}

NeighbourNews ReadDiscovery(const NetAddress& self, const std::byte* from_mac,
                            std::span<const std::byte> packet, std::byte* out) {
  NeighbourNews news;
  news.neighbour.v6 = true;
  std::memcpy(news.neighbour.mac.data(), from_mac, 6);
  if (packet.size() < kIpBytes + kMessageBytes) return news;
  const std::byte* ip = packet.data();
  const uint32_t bytes = Load16(ip + 4);
  const std::byte* message = ip + kIpBytes;
  const auto type = static_cast<uint8_t>(message[0]);
  const bool sound = static_cast<uint8_t>(ip[6]) == kIcmpV6 &&
                     static_cast<uint8_t>(ip[7]) == kHopLimit && bytes >= kMessageBytes &&
                     kIpBytes + bytes <= packet.size() && message[1] == std::byte{0} &&
                     (type == kSolicitation || type == kAdvertisement);
  if (!sound || IcmpChecksum(ip, bytes) != 0) return news;
  news.valid = true;
  const auto options = std::span(message + kMessageBytes, bytes - kMessageBytes);
  const std::byte* target = message + 8;
  if (type == kAdvertisement) {
    std::memcpy(news.neighbour.ip.data(), target, 16);
    news.learned = news.neighbour.ip != self.ip && FindMac(options, kTargetMac, news.neighbour.mac);
    return news;
  }
  if (std::memcmp(target, self.ip.data(), 16) != 0) return news;
  std::memcpy(news.neighbour.ip.data(), ip + 8, 16);
  if (news.neighbour.ip == self.ip) return news;
  const bool named = news.neighbour.ip != Ip{};
  news.learned = named && FindMac(options, kSourceMac, news.neighbour.mac);
  // A question to one host may leave its MAC address out: then it is the frame's.
  news.answer = WriteAdvertisement(self, news.neighbour, out);
  return news;
}

}  // namespace

std::array<uint8_t, 6> SolicitedGroup(const Ip& ip) {
  return {0x33, 0x33, 0xFF, ip[13], ip[14], ip[15]};
}

uint32_t WriteQuestion(const NetAddress& self, const NetAddress& target, std::byte* out) {
  if (self.v6) return WriteSolicitation(self, target.ip, out);
  constexpr Mac kBroadcast = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
  return WriteArp(kArpRequest, self, kBroadcast, {}, target.ip.data() + 12, out);
}

NeighbourNews ReadNeighbourFrame(const NetAddress& self, std::span<const std::byte> frame,
                                 uint32_t ip_at, std::byte* out) {
  if (ip_at < kEthernetBytes || frame.size() < ip_at) return {};
  const auto packet = frame.subspan(ip_at);
  if (self.v6) return ReadDiscovery(self, frame.data() + 6, packet, out);
  return ReadArp(self, packet, out);
}

}  // namespace weir
