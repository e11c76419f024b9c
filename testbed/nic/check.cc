#include "testbed/nic/check.h"

#include <algorithm>
#include <utility>

#include "nic_drivers/address_text.h"
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

CheckedDevice Describe(CheckHost& host, const std::string& name) {
  const DeviceView view = host.Look();
  return {.name = name,
          .host = host.host(),
          .mac = MacText(view.address.mac),
          .mtu = view.caps.mtu,
          .facts = view.facts,
          .features = view.features,
          .warnings = view.warnings};
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

// --- CheckedPair ---

absl::Status CheckedPair::Open(const Change& change) {
  if (plain_ && !a_closed_ && !change) return absl::OkStatus();
  Close();
  a_options_ = options_.a;
  DeviceOptions b_options = options_.b;
  if (change) {
    change(a_options_, 1);
    change(b_options, 2);
  }
  if (absl::Status status = hosts_.open(a_options_, b_options); !status.ok()) return status;
  plain_ = !change;
  a_closed_ = false;
  if (plain_) {
    const DeviceView a_view = a().Look(), b_view = b().Look();
    // Later ones say so, since some devices keep an MTU that they were given.
    options_.a.mtu = a_view.caps.mtu;
    options_.b.mtu = b_view.caps.mtu;
    a_facts_ = a_view.facts;
    b_facts_ = b_view.facts;
  }
  return absl::OkStatus();
}

// Some devices are clients of others: they go first.
void CheckedPair::Close() {
  plain_ = false;
  a().Close();
  b().Close();
}

void CheckedPair::CloseA() {
  a_closed_ = true;
  a().Close();
}

absl::Status CheckedPair::ReopenA() {
  absl::Status status = hosts_.open_a(a_options_);
  a_closed_ = !status.ok();
  return status;
}

bool CheckedPair::Poll() {
  a().Poll();
  b().Poll();
  return reach().ok();
}

absl::Status CheckedPair::reach() const {
  absl::Status status = hosts_.a->reach();
  status.Update(hosts_.b->reach());
  return status;
}

absl::StatusOr<CheckReport> RunChecks(const CheckOptions& options, CheckHosts hosts,
                                      const std::function<void(const CheckOutcome&)>& seen) {
  CheckedPair pair(options, std::move(hosts));
  if (absl::Status status = pair.Open(); !status.ok()) return status;
  CheckReport report{.label = options.label};
  report.devices = {Describe(pair.a(), options.a.device), Describe(pair.b(), options.b.device)};
  for (const CheckEntry& entry : AllChecks()) {
    const auto& only = options.only;
    if (!only.empty() && std::find(only.begin(), only.end(), entry.name) == only.end()) continue;
    CheckOutcome outcome =
        entry.needs_messages && !pair.blocked().empty() ? Skipped(pair.blocked()) : entry.run(pair);
    // What it saw then is nothing that the devices did.
    if (absl::Status status = pair.reach(); !status.ok()) {
      return absl::AbortedError(status.message());
    }
    outcome.name = entry.name;
    if (seen) seen(outcome);
    report.outcomes.push_back(std::move(outcome));
  }
  return report;
}

}  // namespace weir
