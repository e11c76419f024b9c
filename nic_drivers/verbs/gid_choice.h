// Which of a port's GIDs Weir speaks from: the RoCE v2 one of its IP address.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "datapath/wire.h"

namespace weir {

enum class GidKind : uint8_t { kInfiniBand, kRoceV1, kRoceV2 };

struct GidEntry {
  uint32_t index = 0;  // in the port's table
  GidKind kind = GidKind::kInfiniBand;
  std::array<uint8_t, 16> gid{};
};

// The IP address of a RoCE v2 GID: ::ffff:a.b.c.d is IPv4. No MAC.
NetAddress AddressOfGid(const std::array<uint8_t, 16>& gid);

// The entry to use. `wanted`: an index, -1: any. `address`: nullptr: the first IPv4 address, else
// the first IPv6 address that is not link-local. kNotFound names the device, what there is and the
// remedy.
absl::StatusOr<GidEntry> ChooseGid(const std::string& device, std::span<const GidEntry> gids,
                                   int wanted, const NetAddress* address);

}  // namespace weir
