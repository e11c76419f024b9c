#include "testbed/nic/check.h"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "absl/strings/str_format.h"
#include "nic_drivers/address_text.h"
#include "nic_drivers/registry.h"
#include "testbed/live/open_ports.h"
#include "testbed/nic/checks.h"

namespace weir {
namespace {

constexpr CheckEntry kAll[] = {
    {"MTU", CheckMtu, false},
    {"link", CheckLink, false},
    {"frames", CheckFrames, false},
    {"addresses", CheckAddresses, true},
    {"messages", CheckMessages, true},
    {"copied payload", CheckCopied, true},
    {"payload without content", CheckNoContent, true},
    {"two algorithms", CheckTwoAlgorithms, true},
    {"link down and up", CheckLinkDownAndUp, true},
    {"closed and reopened", CheckReopened, true},
    {"no offloads", CheckWithoutOffloads, true},
    {"jumbo frames", CheckJumbo, true},
    {"several queues", CheckQueues, true},
    {"VLAN", CheckVlan, true},
    {"IPv6", CheckIpv6, true},
    {"RDMA mode", CheckRdmaMode, true},
    {"RDMA mode, link lost", CheckRdmaModeLinkLost, true},
    {"removal", CheckRemoval, true},
};

std::string HostText() {
  utsname name{};
  (void)uname(&name);
  std::string processor = name.machine;
  std::ifstream cpus("/proc/cpuinfo");
  for (std::string line; std::getline(cpus, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    processor = line.substr(line.find(':') + 2);
    break;
  }
  return absl::StrFormat("%s %s, %s", name.sysname, name.release, processor);
}

CheckedDevice Describe(const NicDevice& device, const std::string& name) {
  return {.name = name,
          .mac = MacText(device.address().mac),
          .mtu = device.caps().mtu,
          .facts = device.facts(),
          .features = device.features(),
          .warnings = device.warnings()};
}

}  // namespace

std::span<const CheckEntry> AllChecks() { return kAll; }

std::vector<std::string> CheckNames() {
  std::vector<std::string> names;
  for (const CheckEntry& entry : AllChecks()) names.emplace_back(entry.name);
  return names;
}

CheckOutcome Passed() { return {}; }
CheckOutcome Failed(const std::string& text) {
  return {.name = "", .result = CheckResult::kFailed, .text = text};
}
CheckOutcome Skipped(const std::string& text) {
  return {.name = "", .result = CheckResult::kSkipped, .text = text};
}

absl::StatusOr<DevicePair> OpenPair(const DeviceOptions& a, const DeviceOptions& b) {
  auto devices = OpenDevices(std::array{a, b});
  if (!devices.ok()) return devices.status();
  return DevicePair{std::move((*devices)[0]), std::move((*devices)[1])};
}

// --- CheckedPair ---

absl::Status CheckedPair::Open(const Change& change) {
  if (plain_ && !change && pair_.a != nullptr) return absl::OkStatus();
  Close();
  a_options_ = options_.a;
  DeviceOptions b_options = options_.b;
  if (change) {
    change(a_options_, 1);
    change(b_options, 2);
  }
  absl::StatusOr<DevicePair> pair = options_.open(a_options_, b_options);
  if (!pair.ok()) return pair.status();
  pair_ = *std::move(pair);
  plain_ = !change;
  if (plain_) {
    // Later ones say so, since some devices keep an MTU that they were given.
    options_.a.mtu = pair_.a->caps().mtu;
    options_.b.mtu = pair_.b->caps().mtu;
    a_facts_ = pair_.a->facts();
    b_facts_ = pair_.b->facts();
  }
  return absl::OkStatus();
}

// Some devices are clients of others: they go first.
void CheckedPair::Close() {
  pair_.a.reset();
  pair_.b.reset();
}

void CheckedPair::CloseA() { pair_.a.reset(); }

absl::Status CheckedPair::ReopenA() {
  absl::StatusOr<std::unique_ptr<NicDevice>> device = options_.open_a(a_options_);
  if (!device.ok()) return device.status();
  pair_.a = *std::move(device);
  return absl::OkStatus();
}

absl::StatusOr<CheckReport> RunChecks(const CheckOptions& options,
                                      const std::function<void(const CheckOutcome&)>& seen) {
  CheckedPair pair(options);
  if (absl::Status status = pair.Open(); !status.ok()) return status;
  CheckReport report{.label = options.label, .host = HostText()};
  report.devices = {Describe(pair.a(), options.a.device), Describe(pair.b(), options.b.device)};
  for (const CheckEntry& entry : AllChecks()) {
    const auto& only = options.only;
    if (!only.empty() && std::find(only.begin(), only.end(), entry.name) == only.end()) continue;
    CheckOutcome outcome =
        entry.needs_messages && !pair.blocked().empty() ? Skipped(pair.blocked()) : entry.run(pair);
    outcome.name = entry.name;
    if (seen) seen(outcome);
    report.outcomes.push_back(std::move(outcome));
  }
  return report;
}

}  // namespace weir
