#include "nic_drivers/verbs/gid_choice.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "nic_drivers/address.h"
#include "nic_drivers/address_text.h"

namespace weir {
namespace {

constexpr std::array<uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};

const char* Word(GidKind kind) {
  switch (kind) {
    case GidKind::kInfiniBand:
      return "InfiniBand";
    case GidKind::kRoceV1:
      return "RoCE v1";
    case GidKind::kRoceV2:
      return "RoCE v2";
  }
  return "?";
}

std::string List(std::span<const GidEntry> gids) {
  std::string text;
  for (const GidEntry& g : gids) {
    text += absl::StrFormat("%s%d: %s, %s", text.empty() ? "" : "; ", g.index, Word(g.kind),
                            IpText(AddressOfGid(g.gid)));
  }
  return text.empty() ? "none" : text;
}

bool LinkLocal(const NetAddress& a) { return a.v6 && a.ip[0] == 0xFE && (a.ip[1] & 0xC0) == 0x80; }

}  // namespace

NetAddress AddressOfGid(const std::array<uint8_t, 16>& gid) {
  NetAddress address;
  if (std::equal(kMapped.begin(), kMapped.end(), gid.begin())) {
    std::copy(gid.begin() + 12, gid.end(), address.ip.begin() + 12);
    return address;
  }
  address.ip = gid;
  address.v6 = true;
  return address;
}

absl::StatusOr<GidEntry> ChooseGid(const std::string& device, std::span<const GidEntry> gids,
                                   int wanted, const NetAddress* address) {
  const GidEntry* best = nullptr;
  for (const GidEntry& g : gids) {
    if (g.kind != GidKind::kRoceV2) continue;
    if (wanted >= 0 && g.index != static_cast<uint32_t>(wanted)) continue;
    const NetAddress own = AddressOfGid(g.gid);
    if (address != nullptr ? !SameIp(own, *address) : wanted < 0 && LinkLocal(own)) continue;
    const bool better = best == nullptr || (AddressOfGid(best->gid).v6 && !own.v6);
    if (better) best = &g;
  }
  if (best != nullptr) return *best;
  const std::string want =
      (wanted >= 0 ? absl::StrFormat(" at index %d", wanted) : std::string()) +
      (address != nullptr ? " with the address " + IpText(*address) : std::string());
  const std::string remedy =
      address == nullptr
          ? "give its network interface an IP address: ip addr add <address>/24 dev <interface>"
          : absl::StrFormat(
                "give its network interface this address: ip addr add %s/%d dev <interface>, or "
                "name one that it has",
                IpText(*address), address->v6 ? 64 : 24);
  return absl::NotFoundError(absl::StrFormat(
      "RDMA device %s has no RoCE v2 GID%s; its GIDs: %s; %s", device, want, List(gids), remedy));
}

}  // namespace weir
