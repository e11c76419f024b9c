#include "nic_drivers/verbs/peer_message.h"

#include "datapath/wire_codec.h"

namespace weir {
namespace {

constexpr uint32_t kMagic = 0x57565253;
constexpr uint8_t kVersion = 1;
constexpr size_t kFixed = 56;  // bytes before the list
constexpr uint32_t kPairLimit = 1u << 24;

}  // namespace

std::vector<std::byte> Encode(const PeerMessage& m) {
  std::vector<std::byte> out(kFixed + 4 * m.pairs.size());
  wire::Writer w(out.data());
  w.U32(kMagic);
  w.U8(kVersion);
  w.U8(m.question ? 1 : 0);
  w.U8(m.address.v6 ? 1 : 0);
  w.U8(0);
  w.Raw(m.address.mac.data(), m.address.mac.size());
  w.U16(static_cast<uint16_t>(m.queues));
  w.Raw(m.address.ip.data(), m.address.ip.size());
  w.Raw(m.gid.data(), m.gid.size());
  w.U32(m.key);
  w.U32(static_cast<uint32_t>(m.pairs.size()));
  for (const uint32_t pair : m.pairs) w.U32(pair);
  return out;
}

bool Decode(std::span<const std::byte> bytes, PeerMessage& m) {
  if (bytes.size() < kFixed) return false;
  wire::Reader r(bytes.data());
  if (r.U32() != kMagic || r.U8() != kVersion) return false;
  const uint8_t question = r.U8(), v6 = r.U8();
  if (question > 1 || v6 > 1) return false;
  (void)r.U8();
  m.question = question == 1;
  m.address.v6 = v6 == 1;
  r.Raw(m.address.mac.data(), m.address.mac.size());
  m.queues = r.U16();
  r.Raw(m.address.ip.data(), m.address.ip.size());
  r.Raw(m.gid.data(), m.gid.size());
  m.key = r.U32();
  const uint32_t count = r.U32();
  if (count == 0 || count > kVerbsQueuePairsMax) return false;
  if (bytes.size() != kFixed + 4 * size_t{count}) return false;
  if (m.queues == 0 || m.queues > kWorkersMax || count % m.queues != 0) return false;
  m.pairs.resize(count);
  for (uint32_t& pair : m.pairs) {
    pair = r.U32();
    if (pair >= kPairLimit) return false;
  }
  return true;
}

}  // namespace weir
