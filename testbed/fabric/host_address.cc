#include "testbed/fabric/host_address.h"

namespace weir {
namespace {

constexpr uint32_t kFirstV4 = 0x0A00'0001;           // 10.0.0.1
constexpr uint64_t kV6High = 0xFD00'0000'0000'0000;  // fd00::
constexpr uint64_t kMacBase = 0x0200'0000'0000;      // locally administered

}  // namespace

NetAddress HostAddress(uint32_t host, bool v6) {
  return v6 ? NetAddress::V6(kV6High, host + 1, kMacBase + host)
            : NetAddress::V4(kFirstV4 + host, kMacBase + host);
}

uint32_t HostOf(const NetAddress& address) { return HostOfIp(address.v4(), address.v6); }

}  // namespace weir
