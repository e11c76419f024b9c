// Checks of whole messages, over the pair as it is and set up otherwise.
#include <algorithm>

#include "absl/strings/str_format.h"
#include "nic_drivers/registry.h"
#include "testbed/experiment/report_text.h"
#include "testbed/nic/checks.h"

namespace weir {
namespace {

constexpr uint32_t kJumbo = 9000;
constexpr uint32_t kOrdinary = 2000;
constexpr int kVlan = 42;

uint64_t Copied(CheckedPair& pair) {
  return pair.a().Look().counters.tx_copied + pair.b().Look().counters.tx_copied;
}

CheckOutcome ExchangeOver(CheckedPair& pair, const ExchangeOptions& options) {
  const ExchangeResult result = RunExchange(pair.a(), pair.b(), options);
  return OutcomeOf(result, pair);
}

CheckOutcome CannotOpen(const absl::Status& status) {
  return Failed("it does not open so: " + std::string(status.message()));
}

bool BothShowMarks(CheckedPair& pair) {
  return pair.a().Look().caps.signals.Has(Signal::kMarkEcho) &&
         pair.b().Look().caps.signals.Has(Signal::kMarkEcho);
}

// What an ability is called in probe.cc's table, as both devices use it now.
bool BothUse(CheckedPair& pair, const std::string& ability) {
  const auto uses = [&](CheckHost& host) {
    const DeviceFacts facts = host.Look().facts;
    return std::any_of(facts.abilities.begin(), facts.abilities.end(),
                       [&](const DeviceAbility& a) { return a.used && a.name == ability; });
  };
  return uses(pair.a()) && uses(pair.b());
}

}  // namespace

ExchangeOptions DefaultExchange(CheckedPair& pair) {
  ExchangeOptions options;
  options.plugins = {BothShowMarks(pair) ? PluginPair{"dctcp", "reps"}
                                         : PluginPair{"swift", "oblivious"}};
  return options;
}

CheckOutcome OutcomeOf(const ExchangeResult& result, CheckedPair& pair) {
  CheckOutcome out = result.problem.empty() ? Passed() : Failed(result.problem);
  const Counters sum = Counters(result.a) += result.b;
  if (sum.clock_steps_back > 0) {
    out = Failed(absl::StrFormat("a port's clock ran backwards %d times; the driver is at fault",
                                 sum.clock_steps_back));
  }
  out.figures = {
      {"bytes", std::to_string(result.bytes)},
      {"seconds", absl::StrFormat("%.2f", result.seconds)},
      {"packets", std::to_string(sum.data_packets_sent)},
      {"sent again", std::to_string(sum.retransmitted_packets)},
      {"judged lost and yet arrived", std::to_string(sum.spurious_retransmissions)},
      {"smallest RTT", result.rtt_min > Duration(0)
                           ? PrettyNanos(static_cast<double>(result.rtt_min.count()))
                           : "none: every poll was late"},
      {"missed",
       std::to_string(pair.a().Look().counters.rx_missed + pair.b().Look().counters.rx_missed)},
  };
  return out;
}

CheckOutcome CheckMessages(CheckedPair& pair) {
  if (absl::Status status = pair.Open(); !status.ok()) return CannotOpen(status);
  const uint64_t copied = Copied(pair);
  CheckOutcome out = ExchangeOver(pair, DefaultExchange(pair));
  if (out.result != CheckResult::kPassed) return out;
  const uint64_t more = Copied(pair) - copied;
  if (more > 0 && BothUse(pair, "payload in place")) {
    out.result = CheckResult::kFailed;
    out.text = absl::StrFormat("%d payloads were copied, though their memory is registered", more);
  }
  return out;
}

CheckOutcome CheckCopied(CheckedPair& pair) {
  if (absl::Status status = pair.Open(); !status.ok()) return CannotOpen(status);
  ExchangeOptions options = DefaultExchange(pair);
  options.registered = false;
  return ExchangeOver(pair, options);
}

CheckOutcome CheckNoContent(CheckedPair& pair) {
  if (absl::Status status = pair.Open(); !status.ok()) return CannotOpen(status);
  ExchangeOptions options = DefaultExchange(pair);
  options.registered = options.content = false;
  return ExchangeOver(pair, options);
}

CheckOutcome CheckTwoAlgorithms(CheckedPair& pair) {
  if (absl::Status status = pair.Open(); !status.ok()) return CannotOpen(status);
  ExchangeOptions options = DefaultExchange(pair);
  options.plugins = {{BothShowMarks(pair) ? "nscc" : "bbr", "oblivious"}, {"swift", "ecmp"}};
  return ExchangeOver(pair, options);
}

CheckOutcome CheckWithoutOffloads(CheckedPair& pair) {
  const absl::Status status = pair.Open([](DeviceOptions& o, int) { o.offloads = false; });
  // They are not the driver's to switch.
  if (absl::IsUnimplemented(status)) return Skipped(std::string(status.message()));
  if (!status.ok()) return CannotOpen(status);
  return ExchangeOver(pair, DefaultExchange(pair));
}

CheckOutcome CheckJumbo(CheckedPair& pair) {
  const uint32_t a = pair.a_facts().mtu_max, b = pair.b_facts().mtu_max;
  const uint32_t mtu = std::min({a, b, kJumbo});
  if (mtu <= kOrdinary) {
    return Skipped(absl::StrFormat("%s takes no more than %d bytes", a < b ? "A" : "B", mtu));
  }
  const absl::Status status = pair.Open([mtu](DeviceOptions& o, int) { o.mtu = mtu; });
  // An interface may take less than its driver says.
  if (absl::IsFailedPrecondition(status)) return Skipped(std::string(status.message()));
  if (!status.ok()) return CannotOpen(status);
  CheckOutcome frames = CheckFrames(pair);
  if (frames.result != CheckResult::kPassed) return frames;
  CheckOutcome out = ExchangeOver(pair, DefaultExchange(pair));
  out.figures.insert(out.figures.begin(), {"MTU", std::to_string(mtu)});
  return out;
}

CheckOutcome CheckQueues(CheckedPair& pair) {
  const uint32_t a = pair.a_facts().queues_max, b = pair.b_facts().queues_max;
  const uint32_t queues = std::min({a, b, pair.options().queues});
  if (queues < 2) return Skipped(absl::StrFormat("%s has one queue pair", a < 2 ? "A" : "B"));
  const absl::Status status = pair.Open([queues](DeviceOptions& o, int) { o.queues = queues; });
  if (!status.ok()) return CannotOpen(status);
  ExchangeOptions options = DefaultExchange(pair);
  options.plugins.resize(queues, options.plugins.front());
  options.large = (1 << 20) / queues;
  CheckOutcome out = ExchangeOver(pair, options);
  const DeviceCounters c = pair.b().Look().counters;
  out.figures.insert(
      out.figures.begin(),
      {{"queues", std::to_string(queues)},
       {"passed between queues", absl::StrFormat("%d of %d", c.rx_steered, c.rx_packets)}});
  return out;
}

CheckOutcome CheckVlan(CheckedPair& pair) {
  const absl::Status status = pair.Open([](DeviceOptions& o, int) { o.vlan = kVlan; });
  // Not offered by the driver.
  if (absl::IsUnimplemented(status)) return Skipped(std::string(status.message()));
  if (!status.ok()) return CannotOpen(status);
  CheckOutcome out = ExchangeOver(pair, DefaultExchange(pair));
  const bool by_device = BothUse(pair, "VLAN tags written");
  out.figures.insert(out.figures.begin(), {"tags by", by_device ? "the devices" : "software"});
  return out;
}

CheckOutcome CheckIpv6(CheckedPair& pair) {
  const absl::Status status = pair.Open([](DeviceOptions& o, int host) {
    o.address = absl::StrFormat("fd00:5e::%d/64", host);
    o.gateway.clear();
  });
  // Devices whose addresses are the kernel's have those that it gave them.
  const auto has_address = [&pair](int host) {
    const DriverEntry* driver = FindDriver(pair.plain_options(host).device);
    return driver != nullptr && driver->has_address;
  };
  if (absl::IsNotFound(status) && (has_address(1) || has_address(2))) {
    return Skipped(std::string(status.message()));
  }
  if (!status.ok()) return CannotOpen(status);
  return ExchangeOver(pair, DefaultExchange(pair));
}

}  // namespace weir
