// "udp:eth0,paths=16".
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace weir {

inline constexpr int kUdpPathsMax = 256;

struct UdpName {
  std::string interface {};
  uint32_t paths = 16;  // [1, kUdpPathsMax]: sockets to send from, each with a source port
};
// Errors name the text, what is wrong with it and the form.
absl::StatusOr<UdpName> ParseUdpName(const std::string& text);

}  // namespace weir
