// Checks of what happens to a device while messages are on their way.
#include <chrono>
#include <fstream>
#include <thread>

#include "absl/strings/str_format.h"
#include "nic_drivers/address_text.h"
#include "testbed/nic/checks.h"
#include "testbed/nic/pci_slot.h"

namespace weir {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMidway = 0.3;  // of the messages have arrived
constexpr auto kShowMax = std::chrono::seconds(1);
constexpr auto kRemovalMax = std::chrono::seconds(30);

// Until a part has arrived; false: it ended before.
bool RunToMidway(Exchange& exchange) {
  while (exchange.progress() < kMidway) {
    if (!exchange.Turn()) return false;
  }
  return true;
}

void RunToEnd(Exchange& exchange) {
  while (exchange.Turn()) {
  }
}

}  // namespace

CheckOutcome CheckLinkDownAndUp(CheckedPair& pair) {
  if (absl::Status status = pair.Open(); !status.ok()) return Failed(std::string(status.message()));
  const auto set_link = [&pair](bool up) {
    return pair.options().set_link ? pair.options().set_link(up) : pair.a().SetLink(up);
  };
  if (absl::Status status = set_link(true); !status.ok()) {
    return Skipped(std::string(status.message()));
  }
  ExchangeOptions options = DefaultExchange(pair);
  options.patience = Seconds(30);
  options.time_max = std::chrono::seconds(45);
  Exchange exchange(pair.a(), pair.b(), options);
  std::string problem;
  bool shown = false;
  if (RunToMidway(exchange)) {
    absl::Status status = set_link(false);
    const Clock::time_point deadline = Clock::now() + kShowMax;
    while (!shown && Clock::now() < deadline && exchange.Turn()) shown = !pair.a().link_up();
    status.Update(set_link(true));
    if (!status.ok()) problem = std::string(status.message());
  }
  RunToEnd(exchange);
  CheckOutcome out = OutcomeOf(exchange.Finish(), pair);
  out.figures.insert(out.figures.begin(), {"the device shows it", shown ? "yes" : "no"});
  if (problem.empty() || out.result != CheckResult::kPassed) return out;
  return Failed(problem);
}

CheckOutcome CheckReopened(CheckedPair& pair) {
  if (!pair.can_reopen_a()) return Skipped("the two can only be opened together");
  if (absl::Status status = pair.Open(); !status.ok()) return Failed(std::string(status.message()));
  const MacAddress mac = pair.a().Look().address.mac;
  ExchangeOptions options = DefaultExchange(pair);
  options.patience = Seconds(15);
  Exchange exchange(pair.a(), pair.b(), options);
  if (!RunToMidway(exchange)) return OutcomeOf(exchange.Finish(), pair);
  const Clock::time_point begin = Clock::now();
  pair.CloseA();
  if (absl::Status status = pair.ReopenA(); !status.ok()) {
    (void)exchange.Finish();
    return Failed("it does not open again: " + std::string(status.message()));
  }
  const std::chrono::duration<double> away = Clock::now() - begin;
  if (pair.a().Look().address.mac != mac) {
    (void)exchange.Finish();
    return Skipped("A has another MAC address each time it is opened, which ends connections");
  }
  RunToEnd(exchange);
  CheckOutcome out = OutcomeOf(exchange.Finish(), pair);
  out.figures.insert(out.figures.begin(), {"seconds away", absl::StrFormat("%.2f", away.count())});
  return out;
}

CheckOutcome CheckRemoval(CheckedPair& pair) {
  if (!pair.options().remove) return Skipped("not asked for (--remove)");
  absl::StatusOr<PciSlot> slot = PciSlot::Of(pair.options().a.device);
  if (!slot.ok()) return Skipped(std::string(slot.status().message()));
  if (absl::Status status = pair.Open(); !status.ok()) return Failed(std::string(status.message()));
  CheckOutcome out = Passed();
  {
    ExchangeOptions options = DefaultExchange(pair);
    options.patience = Seconds(1);
    options.retries_max = 4;
    Exchange exchange(pair.a(), pair.b(), options);
    if (!RunToMidway(exchange)) return OutcomeOf(exchange.Finish(), pair);
    // Returns when the device has been given back.
    absl::Status taken;
    std::thread remover([&] { taken = slot->Remove(); });
    const Clock::time_point deadline = Clock::now() + kRemovalMax;
    while (!pair.a().gone() && Clock::now() < deadline) (void)exchange.Turn();
    const bool noticed = pair.a().gone();
    // The peer is told by nobody: its connection ends once its patience is over.
    RunToEnd(exchange);
    const ExchangeResult result = exchange.Finish();
    pair.CloseA();
    remover.join();
    if (!noticed) return Failed("the driver does not notice that the device is wanted back");
    if (!taken.ok()) return Failed(std::string(taken.message()));
    if (result.problem.find("stopped answering") == std::string::npos) {
      return Failed(
          "a connection over a device that is gone does not end with the peer's silence: " +
          result.problem);
    }
    out.figures = {{"connections end with", result.problem}};
  }
  if (absl::Status status = slot->Return(); !status.ok()) {
    return Failed(std::string(status.message()));
  }
  // Works as before, both opened anew.
  const absl::Status status = pair.Open([](DeviceOptions&, int) {});
  if (!status.ok()) return Failed("it does not come back: " + std::string(status.message()));
  const ExchangeResult again = RunExchange(pair.a(), pair.b(), DefaultExchange(pair));
  if (!again.problem.empty()) return Failed("after it came back: " + again.problem);
  return out;
}

}  // namespace weir
