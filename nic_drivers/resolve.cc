#include "nic_drivers/resolve.h"

#include <thread>

namespace weir {

absl::Status ResolveWithin(NicDevice& device, NetAddress& remote, std::chrono::nanoseconds limit) {
  constexpr auto kPause = std::chrono::microseconds(200);
  const auto deadline = std::chrono::steady_clock::now() + limit;
  absl::Status resolved = device.Resolve(remote);
  while (absl::IsUnavailable(resolved) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(kPause);
    resolved = device.Resolve(remote);
  }
  return resolved;
}

}  // namespace weir
