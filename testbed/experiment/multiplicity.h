// Error rates when more than one comparison is made, or when one looks more than once.
#pragma once

#include <cstddef>
#include <vector>

namespace weir {

// The chance that a whole experiment without any difference is said to show one.
inline constexpr double kAlpha = 0.05;
// With fewer seeds no verdict is given: their resamples are too few to tell chance.
inline constexpr size_t kSeedsToJudge = 5;

// Holm's step-down correction: adjusted p-values in the order given, to be compared with alpha.
std::vector<double> HolmAdjusted(const std::vector<double>& p);

// One look at an experiment that grows until it is decided.
struct Look {
  size_t seeds = 0;  // how many there are by then
  double alpha = 0;  // what this look may spend
};
// Looks at `first` seeds and at twice as many each time, up to `most`. Together they spend `alpha`,
// by the Pocock-type function of Lan and DeMets (1983); see docs/statistics.md.
std::vector<Look> PlanLooks(size_t first, size_t most, double alpha);

}  // namespace weir
