// Addresses of the hosts of a fabric: 10.0.0.1 or fd00::1 onwards.
#pragma once

#include <cstdint>

#include "datapath/wire.h"

namespace weir {

NetAddress HostAddress(uint32_t host, bool v6);
uint32_t HostOf(const NetAddress& address);
// From the last 32 bits of an address.
inline uint32_t HostOfIp(uint32_t low, bool v6) { return low - (v6 ? 1 : 0x0A00'0001u); }

}  // namespace weir
