// What drivers ask of addresses.
#pragma once

#include <array>
#include <cstdint>

#include "datapath/wire.h"

namespace weir {

// The same host, whatever its MAC address.
inline bool SameIp(const NetAddress& a, const NetAddress& b) {
  return a.v6 == b.v6 && a.ip == b.ip;
}

// Where nothing decides a MAC address it follows from the IP address: locally administered.
inline std::array<uint8_t, 6> MadeUpMac(const NetAddress& of) {
  return {0x02, 0x57, of.ip[12], of.ip[13], of.ip[14], of.ip[15]};
}

}  // namespace weir
