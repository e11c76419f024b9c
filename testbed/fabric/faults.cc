#include "testbed/fabric/faults.h"

#include <algorithm>

namespace weir {
namespace {

// No schedule has more changes than this: a flap of a nanosecond would never end.
constexpr size_t kStepsMax = 1'000'000;

void AddFlaps(const Fault& fault, uint32_t index, Duration end, std::vector<FaultStep>& steps) {
  const Duration half = fault.period / 2;
  bool down = true;
  for (Duration at = fault.at; at < end && steps.size() < kStepsMax; at += half, down = !down) {
    steps.push_back({at, index, down});
  }
  steps.push_back({end, index, false});
}

}  // namespace

std::vector<FaultStep> FaultSteps(const std::vector<Fault>& faults, Duration horizon) {
  std::vector<FaultStep> steps;
  for (uint32_t i = 0; i < faults.size(); ++i) {
    const Fault& fault = faults[i];
    if (fault.at >= horizon) continue;
    const bool endless = fault.lasts >= horizon - fault.at;
    const Duration end = endless ? horizon : fault.at + fault.lasts;
    if (fault.kind == FaultKind::kLinkFlap && fault.period > Duration(1)) {
      AddFlaps(fault, i, end, steps);
      continue;
    }
    steps.push_back({fault.at, i, true});
    if (!endless) steps.push_back({end, i, false});
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const FaultStep& a, const FaultStep& b) { return a.at < b.at; });
  return steps;
}

}  // namespace weir
