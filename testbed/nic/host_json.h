// What the two processes of a check tell each other, as JSON.
//
// Read returns kInvalidArgument, and names it, where something is missing, of another type or out
// of range; `out` may then hold a part.
#pragma once

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "testbed/nic/check_host.h"

namespace weir {

// How far a host is, with what it sees of its device.
struct HostReport {
  HostProgress progress{};
  bool link_up = false;
  bool gone = false;
};

nlohmann::json ToJson(const HostFacts& facts);
absl::Status FromJson(const nlohmann::json& json, HostFacts& out);

// With the IP address as text; an IPv4 and an IPv6 address differ in form.
nlohmann::json ToJson(const NetAddress& address);
absl::Status FromJson(const nlohmann::json& json, NetAddress& out);

// What a check changes: address, gateway, queues, MTU, VLAN, offloads; and the device's name.
nlohmann::json ToJson(const DeviceOptions& options);
absl::Status FromJson(const nlohmann::json& json, DeviceOptions& out);

nlohmann::json ToJson(const DeviceView& view);
absl::Status FromJson(const nlohmann::json& json, DeviceView& out);

nlohmann::json ToJson(const HostReport& report);
absl::Status FromJson(const nlohmann::json& json, HostReport& out);

nlohmann::json ToJson(const FrameTrialOptions& options);
absl::Status FromJson(const nlohmann::json& json, FrameTrialOptions& out);
nlohmann::json ToJson(const FrameTrialResult& result);
absl::Status FromJson(const nlohmann::json& json, FrameTrialResult& out);

// All but time_max, which is the business of the process that directs. Plug-ins that this build
// does not have are refused.
nlohmann::json ToJson(const ExchangeOptions& options);
absl::Status FromJson(const nlohmann::json& json, ExchangeOptions& out);
nlohmann::json ToJson(const ExchangeReport& report);
absl::Status FromJson(const nlohmann::json& json, ExchangeReport& out);

// Code and message.
nlohmann::json ToJson(const absl::Status& status);
absl::Status FromJson(const nlohmann::json& json, absl::Status& out);

}  // namespace weir
