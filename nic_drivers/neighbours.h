// Who is where: IP addresses to MAC addresses of their next hops. Sans-I/O.
#pragma once

#include <array>
#include <map>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "datapath/nic_device.h"
#include "nic_drivers/address_text.h"

namespace weir {

class Neighbours {
 public:
  // A question is repeated after kAgain, kTries times in all; then the address is taken to be gone
  // for kGone, and asked for anew after that.
  static constexpr Duration kAgain = Millis(250);
  static constexpr int kTries = 4;
  static constexpr Duration kGone = Seconds(1);
  // Neighbours that made themselves known are kept up to this many.
  static constexpr size_t kMax = 4096;

  static absl::StatusOr<Neighbours> Create(const Subnet& subnet, const DeviceOptions& options);

  // As NicDevice::Resolve. `ask` is set to an address that is to be asked for now.
  absl::Status Resolve(Time now, NetAddress& remote, std::optional<NetAddress>& ask);
  // IP and MAC of a neighbour, from an answer or from its own question.
  void Learn(const NetAddress& neighbour);

 private:
  struct Entry {
    std::optional<MacAddress> mac;
    bool fixed = false;  // by the user; never learned over
    Time asked_at{};
    int tries = 0;
  };

  absl::StatusOr<NetAddress> NextHop(const NetAddress& remote) const;

  Subnet subnet_;
  std::optional<NetAddress> gateway_;
  std::map<std::array<uint8_t, 16>, Entry> entries_;
};

}  // namespace weir
