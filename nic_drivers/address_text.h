// Addresses as people write them.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "datapath/wire.h"

namespace weir {

// "10.0.0.1" or "fd00::1"; no MAC.
absl::StatusOr<NetAddress> ParseIp(const std::string& text);

// An address and how many leading bits of it the link shares.
struct Subnet {
  NetAddress address{};
  int prefix = 0;  // of 32 or 128 bits

  bool Contains(const NetAddress& other) const;
};
// "10.0.0.1/24" or "fd00::1/64"; without a length all of the address counts.
absl::StatusOr<Subnet> ParseSubnet(const std::string& text);

using MacAddress = std::array<uint8_t, 6>;
// "02:00:00:00:00:01".
absl::StatusOr<MacAddress> ParseMac(const std::string& text);

std::string IpText(const NetAddress& address);
std::string MacText(const MacAddress& mac);

}  // namespace weir
