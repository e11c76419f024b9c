// Comparing arms: the same seeds, differences paired by seed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "testbed/experiment/experiment.h"
#include "testbed/experiment/result.h"
#include "testbed/experiment/statistics.h"

namespace weir {

// One figure of one arm against the first arm.
struct AbDifference {
  std::string arm;
  std::string metric;
  std::string unit;  // "ns", "bps", "" (a ratio), "packets", "bytes"
  bool lower_is_better = true;
  PairedDifference difference{};
  double relative = 0;  // difference / mean of the first arm; 0 if that is 0
};

struct AbResult {
  std::string baseline;  // the first arm
  std::vector<uint64_t> seeds;
  std::vector<AbDifference> differences;
  // Runs for which the machine was too busy. With any, no difference counts as shown.
  uint32_t too_busy = 0;
};

// `results` holds every arm on every seed.
AbResult CompareArms(const Experiment& experiment, const std::vector<RunResult>& results);

}  // namespace weir
