// What the kernel says of its network interfaces.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "datapath/api/units.h"
#include "datapath/wire.h"

namespace weir {

struct InterfaceFacts {
  std::vector<NetAddress> addresses{};  // in the kernel's order, link-local ones of IPv6 left out
  uint32_t mtu = 0;                     // bytes
  Rate rate{};                          // 0: it does not say
  bool up = false;
  std::string driver;  // the kernel's; "lo" and the like have none
  int numa_node = -1;
};
// kNotFound: there is none of this name; the message lists those that there are.
absl::StatusOr<InterfaceFacts> LookAtInterface(const std::string& name);
// As "udp:eth0"; those with an address.
std::vector<std::string> ListUdpDevices();

}  // namespace weir
