// Which algorithm and policy a connection of an arm has, where the arm has rules.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "testbed/experiment/experiment.h"

namespace weir {

// For each connection the first rule of `arm` that matches, by number; kNoRule: the arm's own.
inline constexpr uint32_t kNoRule = 0xFFFF'FFFF;
std::vector<uint32_t> MatchRules(const Arm& arm, const Traffic& traffic, const Routes& routes);

// "distance leaf, size up to 64KiB".
std::string RuleText(const ArmRule& rule);
// Why a rule can't be one of that arm there; empty: it can.
std::string WhyUnfit(const ArmRule& rule, const Arm& arm, const Experiment& experiment);

}  // namespace weir
