// Both ends of a measurement in one process, over DPDK rings.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "nic_drivers/host/context.h"

namespace weir {

struct RingPeers {
  std::unique_ptr<Context> client;
  std::unique_ptr<Context> server;
  std::string server_address;
};

// `options` of the client; the server has the same and the next address.
absl::StatusOr<RingPeers> OpenRingPeers(const ContextOptions& options);

}  // namespace weir
