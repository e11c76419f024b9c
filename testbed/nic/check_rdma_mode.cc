// The check of the RDMA mode: both devices opened in it, in place of the datapath's own ports.
#include <algorithm>
#include <memory>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "nic_drivers/registry.h"
#include "testbed/experiment/report_text.h"
#include "testbed/nic/checks.h"
#include "testbed/nic/chunk_exchange.h"

namespace weir {
namespace {

constexpr uint32_t kPaths = 4;
// So slow, and at most, that what is in flight does not outlast the devices' own time-outs where
// they are programs.
constexpr Rate kRate = Gbps(1);

Binding OverPaths(const char* cc, const char* lb) {
  Binding binding = BindingOf(cc, lb);
  binding.paths = kPaths;
  return binding;
}

// Both devices in RDMA mode; or, in `outcome`, why they are not.
struct RdmaPair {
  std::unique_ptr<ChunkDevice> a, b;
  CheckOutcome outcome = Passed();
};

RdmaPair OpenRdmaPair(CheckedPair& pair) {
  RdmaPair out;
  for (const int host : {1, 2}) {
    const DriverEntry* driver = FindDriver(pair.plain_options(host).device);
    if (driver != nullptr && driver->open_chunks != nullptr) continue;
    out.outcome = Skipped("only RDMA devices have this mode (docs/rdma-mode.md)");
    return out;
  }
  pair.Close();  // both modes use the same UDP port
  for (const int host : {2, 1}) {
    CheckHost& side = host == 1 ? pair.a() : pair.b();
    auto device = side.OpenInRdmaMode(pair.plain_options(host));
    if (absl::IsUnimplemented(device.status())) {
      out.outcome = Skipped(std::string(device.status().message()));
      return out;
    }
    if (!device.ok()) {
      out.outcome = Failed("it does not open so: " + std::string(device.status().message()));
      return out;
    }
    (host == 1 ? out.a : out.b) = *std::move(device);
  }
  return out;
}

}  // namespace

CheckOutcome CheckRdmaMode(CheckedPair& pair) {
  const RdmaPair devices = OpenRdmaPair(pair);
  if (devices.outcome.result != CheckResult::kPassed) return devices.outcome;
  ChunkExchangeOptions options;
  options.bindings = {OverPaths("swift", "round_robin"), OverPaths("bbr", "power_of_two")};
  options.line_rate =
      std::min({kRate, devices.a->port().caps().line_rate, devices.b->port().caps().line_rate});
  const ChunkExchangeResult result = RunChunkExchange(*devices.a, *devices.b, options);
  CheckOutcome out = result.problem.empty() ? Passed() : Failed(result.problem);
  out.figures = {
      {"bytes", std::to_string(result.bytes)},
      {"seconds", absl::StrFormat("%.2f", result.seconds)},
      {"chunks", std::to_string(result.chunks)},
      {"queue pairs", absl::StrJoin(result.paths, " + ")},
      {"smallest RTT of a chunk", result.rtt_min > Duration(0)
                                      ? PrettyNanos(static_cast<double>(result.rtt_min.count()))
                                      : "none: every poll was late"},
      {"completions polled late", std::to_string(result.late)},
  };
  return out;
}

CheckOutcome CheckRdmaModeLinkLost(CheckedPair& pair) {
  const RdmaPair devices = OpenRdmaPair(pair);
  if (devices.outcome.result != CheckResult::kPassed) return devices.outcome;
  const auto& set_link = pair.options().set_link;
  if (!set_link) return Skipped("nothing takes the link down and up (--link-with)");
  const Binding binding = OverPaths("swift", "round_robin");
  const ChunkLossResult result =
      LoseChunkLink(*devices.a, *devices.b, binding, [&] { return set_link(false); });
  const absl::Status up = set_link(true);
  if (!result.problem.empty()) return Failed(result.problem);
  if (!up.ok()) return Failed("the link does not come up again: " + std::string(up.message()));
  CheckOutcome out = Passed();
  out.figures = {{"ended with", Name(result.cause)},
                 {"seconds", absl::StrFormat("%.2f", result.seconds)}};
  return out;
}

}  // namespace weir
