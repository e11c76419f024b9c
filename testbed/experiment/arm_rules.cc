#include "testbed/experiment/arm_rules.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "datapath/text/quantity_text.h"
#include "testbed/experiment/distance.h"

namespace weir {
namespace {

bool Matches(const ArmRule& rule, Distance distance, Bytes largest) {
  return (!rule.distance.has_value() || *rule.distance == distance) && largest >= rule.size_min &&
         largest <= rule.size_max;
}

const char* Name(Distance distance) {
  switch (distance) {
    case Distance::kLeaf:
      return "leaf";
    case Distance::kPod:
      return "pod";
    case Distance::kFabric:
      return "fabric";
  }
  return "?";
}

}  // namespace

std::vector<uint32_t> MatchRules(const Arm& arm, const Traffic& traffic, const Routes& routes) {
  std::vector<uint32_t> matched(traffic.connections.size(), kNoRule);
  if (arm.rules.empty()) return matched;
  std::vector<Bytes> largest(traffic.connections.size());
  for (const Transfer& t : traffic.transfers) {
    largest[t.connection] = std::max(largest[t.connection], t.size);
  }
  for (size_t i = 0; i < matched.size(); ++i) {
    const TrafficConnection& c = traffic.connections[i];
    const Distance distance = DistanceBetween(routes, c.from, c.to);
    const auto rule = std::ranges::find_if(
        arm.rules, [&](const ArmRule& r) { return Matches(r, distance, largest[i]); });
    if (rule != arm.rules.end()) matched[i] = static_cast<uint32_t>(rule - arm.rules.begin());
  }
  return matched;
}

std::string RuleText(const ArmRule& rule) {
  std::string out;
  if (rule.distance.has_value()) out = absl::StrFormat("distance %s", Name(*rule.distance));
  if (rule.size_min > Bytes(0)) {
    out += absl::StrFormat("%ssize from %s", out.empty() ? "" : ", ", Format(rule.size_min));
  }
  if (rule.size_max < Bytes::Max()) {
    out += absl::StrFormat("%ssize up to %s", out.empty() ? "" : ", ", Format(rule.size_max));
  }
  return out;
}

std::string WhyUnfit(const ArmRule& rule, const Arm& arm, const FabricSpec& fabric) {
  if (std::string why = WhyUnfit(rule.binding, fabric); !why.empty()) return why;
  if (rule.binding.cc->receiver_half != arm.binding.cc->receiver_half) {
    return absl::StrFormat(
        "%s has another receiver than %s, and a host has one; choose an algorithm with the same "
        "receiver half",
        rule.binding.cc->name, arm.binding.cc->name);
  }
  return "";
}

}  // namespace weir
