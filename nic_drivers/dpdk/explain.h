// DPDK's failures in one sentence each, with the remedy.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "nic_drivers/dpdk/eal.h"

namespace weir {

// `error` is an errno, of either sign; `log` what DPDK said meanwhile; `arguments` the user's.
absl::Status ExplainStart(int error, const std::string& log,
                          const std::vector<std::string>& arguments);
absl::Status ExplainAttach(const DeviceName& device, int error, const std::string& log);
// What can be known before DPDK tries.
absl::Status CheckBeforeAttach(const DeviceName& device);

}  // namespace weir
