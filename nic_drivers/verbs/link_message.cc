#include "nic_drivers/verbs/link_message.h"

#include "datapath/wire_codec.h"

namespace weir {
namespace {

constexpr uint32_t kMagic = 0x57565243;
constexpr uint8_t kVersion = 1;
constexpr size_t kFixed = 56;  // bytes before the lists
constexpr size_t kPairBytes = 8;
constexpr size_t kRegionBytes = 20;
constexpr uint32_t kLimit24 = 1u << 24;
constexpr uint8_t kMtuMax = 5;
constexpr uint8_t kDscpMax = 63;

}  // namespace

std::vector<std::byte> Encode(const LinkMessage& m) {
  std::vector<std::byte> out(kFixed + kPairBytes * m.pairs.size() +
                             kRegionBytes * m.regions.size());
  wire::Writer w(out.data());
  w.U32(kMagic);
  w.U8(kVersion);
  w.U8(static_cast<uint8_t>(m.kind));
  w.U8(m.mtu);
  w.U8(m.address.v6 ? 1 : 0);
  w.Raw(m.address.ip.data(), m.address.ip.size());
  w.Raw(m.gid.data(), m.gid.size());
  w.U64(m.nonce);
  w.U16(static_cast<uint16_t>(m.pairs.size()));
  w.U16(static_cast<uint16_t>(m.regions.size()));
  w.U8(m.dscp);
  w.U8(0);
  w.U16(0);
  for (const LinkMessage::Pair& pair : m.pairs) {
    w.U32(pair.number);
    w.U32(pair.psn);
  }
  for (const LinkMessage::Region& region : m.regions) {
    w.U64(region.base);
    w.U64(region.size);
    w.U32(region.key);
  }
  return out;
}

bool Decode(std::span<const std::byte> bytes, LinkMessage& m) {
  if (bytes.size() < kFixed) return false;
  wire::Reader r(bytes.data());
  if (r.U32() != kMagic || r.U8() != kVersion) return false;
  const uint8_t kind = r.U8();
  m.mtu = r.U8();
  const uint8_t v6 = r.U8();
  if (kind > static_cast<uint8_t>(LinkMessage::Kind::kConfirm) || v6 > 1) return false;
  if (m.mtu == 0 || m.mtu > kMtuMax) return false;
  m.kind = static_cast<LinkMessage::Kind>(kind);
  m.address = {.v6 = v6 == 1};
  r.Raw(m.address.ip.data(), m.address.ip.size());
  r.Raw(m.gid.data(), m.gid.size());
  m.nonce = r.U64();
  const uint16_t pairs = r.U16(), regions = r.U16();
  m.dscp = r.U8();
  (void)r.U8();
  (void)r.U16();
  if (pairs > kVerbsPathsMax || regions > kLinkRegionsMax || m.dscp > kDscpMax) return false;
  const bool has_pairs = m.kind == LinkMessage::Kind::kOpen || m.kind == LinkMessage::Kind::kAccept;
  if (has_pairs != (pairs > 0)) return false;
  if (bytes.size() != kFixed + kPairBytes * pairs + kRegionBytes * regions) return false;
  m.pairs.resize(pairs);
  for (LinkMessage::Pair& pair : m.pairs) {
    pair = {.number = r.U32(), .psn = r.U32()};
    if (pair.number >= kLimit24 || pair.psn >= kLimit24) return false;
  }
  m.regions.resize(regions);
  for (LinkMessage::Region& region : m.regions) {
    region.base = r.U64();
    region.size = r.U64();
    region.key = r.U32();
    if (region.base + region.size < region.base) return false;
  }
  return true;
}

}  // namespace weir
