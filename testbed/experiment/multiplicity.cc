#include "testbed/experiment/multiplicity.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace weir {

std::vector<double> HolmAdjusted(const std::vector<double>& p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&p](size_t a, size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double so_far = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const double left = static_cast<double>(p.size() - i);
    so_far = std::max(so_far, std::min(1.0, left * p[order[i]]));
    adjusted[order[i]] = so_far;
  }
  return adjusted;
}

std::vector<Look> PlanLooks(size_t first, size_t most, double alpha) {
  std::vector<Look> looks;
  double spent = 0;
  for (size_t seeds = std::min(first, most);; seeds = std::min(2 * seeds, most)) {
    const double share = static_cast<double>(seeds) / static_cast<double>(most);
    const double by_now = alpha * std::log(1 + (std::numbers::e - 1) * share);
    looks.push_back({seeds, by_now - spent});
    spent = by_now;
    if (seeds == most) return looks;
  }
}

}  // namespace weir
