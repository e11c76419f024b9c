#include "testbed/experiment/arm_rules.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "datapath/text/quantity_text.h"
#include "testbed/experiment/distance.h"

namespace weir {
namespace {

// What a rule looks at, of one connection.
struct Matter {
  Distance distance = Distance::kLeaf;
  Bytes largest{};  // message
  uint8_t traffic_class = 0;
  const std::string* collective = nullptr;  // of all its messages; nullptr: of none, or of several
};

bool Matches(const ArmRule& rule, const Matter& m) {
  return (!rule.distance.has_value() || *rule.distance == m.distance) &&
         m.largest >= rule.size_min && m.largest <= rule.size_max &&
         (!rule.traffic_class.has_value() || *rule.traffic_class == m.traffic_class) &&
         (rule.collective.empty() || (m.collective != nullptr && *m.collective == rule.collective));
}

// Largest messages and collectives, by connection.
std::vector<Matter> Matters(const Traffic& traffic) {
  static const std::string kSeveral;
  std::vector<Matter> out(traffic.connections.size());
  for (const Transfer& t : traffic.transfers) {
    Matter& m = out[t.connection];
    m.largest = std::max(m.largest, t.size);
    if (traffic.operations.empty()) continue;
    const std::string& collective = traffic.operations[t.label].name;
    if (collective == "warmup") continue;
    if (m.collective == nullptr) m.collective = &collective;
    if (*m.collective != collective) m.collective = &kSeveral;
  }
  return out;
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
  std::vector<Matter> matters = Matters(traffic);
  for (size_t i = 0; i < matched.size(); ++i) {
    const TrafficConnection& c = traffic.connections[i];
    matters[i].distance = DistanceBetween(routes, c.from, c.to);
    matters[i].traffic_class = c.traffic_class;
    const auto rule =
        std::ranges::find_if(arm.rules, [&](const ArmRule& r) { return Matches(r, matters[i]); });
    if (rule != arm.rules.end()) matched[i] = static_cast<uint32_t>(rule - arm.rules.begin());
  }
  return matched;
}

std::string RuleText(const ArmRule& rule) {
  std::vector<std::string> parts;
  if (rule.distance.has_value())
    parts.push_back(absl::StrFormat("distance %s", Name(*rule.distance)));
  if (rule.size_min > Bytes(0))
    parts.push_back(absl::StrFormat("size from %s", Format(rule.size_min)));
  if (rule.size_max < Bytes::Max()) {
    parts.push_back(absl::StrFormat("size up to %s", Format(rule.size_max)));
  }
  if (rule.traffic_class.has_value()) parts.push_back("class " + rule.class_name);
  if (!rule.collective.empty()) parts.push_back("collective " + rule.collective);
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
  return out;
}

std::string WhyUnfit(const ArmRule& rule, const Arm& arm, const Experiment& e) {
  if (std::string why = WhyUnfit(rule.binding, e); !why.empty()) return why;
  if (rule.binding.cc->receiver_half != arm.binding.cc->receiver_half) {
    return absl::StrFormat(
        "%s has another receiver than %s, and a host has one; choose an algorithm with the same "
        "receiver half",
        rule.binding.cc->name, arm.binding.cc->name);
  }
  return "";
}

}  // namespace weir
