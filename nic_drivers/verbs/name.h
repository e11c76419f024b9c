// How an RDMA device is named: "verbs:rxe0", "verbs:mlx5_0,port=2,gid=3,paths=16".
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace weir {

inline constexpr uint32_t kVerbsPathsMax = 64;

struct VerbsName {
  std::string device;  // as in /sys/class/infiniband
  uint8_t port = 1;    // [1, 255]
  int gid = -1;        // index in the port's table, [0, 255]; -1: by the IP address
  uint32_t paths = 8;  // queue pairs of each queue, [1, kVerbsPathsMax]
};

absl::StatusOr<VerbsName> ParseVerbsName(const std::string& text);

}  // namespace weir
