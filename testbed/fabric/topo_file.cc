// Reading of .topo files. Format: uet-htsim, htsim/sim/datacenter/topologies and
// fat_tree_topology.cpp; keys are matched without regard to case, as there.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "testbed/fabric/tiers.h"
#include "testbed/fabric/topology.h"
#include "testbed/text_lines.h"

namespace weir {
namespace {

constexpr size_t kTiersMax = 3;
// Bounds of what is built, so that a damaged number can't exhaust memory.
constexpr uint64_t kHostsMax = 1 << 20;
constexpr uint64_t kCablesMax = 1 << 22;

struct KeySpec {
  const char* name;
  uint64_t min;
  uint64_t max;
  bool required;
  uint64_t otherwise = 0;  // the value if it's optional and missing
};

enum HeaderKey : size_t { kNodes, kTiers, kPodsize, kHeaderKeys };
constexpr KeySpec kHeaderSpecs[kHeaderKeys] = {
    {"Nodes", 1, kHostsMax, true},
    {"Tiers", 2, kTiersMax, true},
    {"Podsize", 1, kHostsMax, true},
};

enum TierKey : size_t {
  kSpeed,
  kRadixDown,
  kRadixUp,
  kLatency,
  kSwitchLatency,
  kOversubscribed,
  kBundle,
  kTierKeys
};
constexpr KeySpec kTierSpecs[kTierKeys] = {
    {"Downlink_speed_Gbps", 1, 1'000'000, true},
    {"Radix_Down", 1, 65'536, true},
    {"Radix_Up", 1, 65'536, true},
    {"Downlink_Latency_ns", 0, 1'000'000'000, true},
    {"Switch_Latency_ns", 0, 1'000'000'000, false, 0},
    {"Oversubscribed", 1, 65'536, false, 0},  // 0: not checked
    {"Bundle", 1, 65'536, false, 1},
};

// The keys under one heading, with the lines they stand on.
struct Section {
  struct Entry {
    int line = 0;  // 0: not given
    uint64_t value = 0;
  };
  int line = 1;  // of the heading
  std::string title;
  std::span<const KeySpec> specs;
  std::array<Entry, kTierKeys> entries{};

  uint64_t operator[](size_t key) const {
    return entries[key].line == 0 ? specs[key].otherwise : entries[key].value;
  }
  int LineOf(size_t key) const { return entries[key].line == 0 ? line : entries[key].line; }
};

class TopoReader {
 public:
  explicit TopoReader(const std::string& file) : file_(file) {}

  absl::StatusOr<Topology> Read(const std::string& text);

 private:
  absl::Status AddLine(const TextLine& line);
  absl::Status StartTier(const TextLine& line);
  absl::Status UnknownKey(const Section& section, const TextLine& line) const;
  absl::Status CheckComplete() const;
  absl::Status CheckSection(const Section& section) const;
  absl::Status CheckTop() const;
  absl::Status CheckPods() const;
  absl::Status CheckUplinks(size_t tier, uint64_t switches) const;
  absl::Status CheckOversubscription(size_t tier) const;
  absl::Status CheckSize() const;
  TieredShape Shape() const;
  Tier TierShape(size_t tier) const;
  template <typename... Args>
  absl::Status Error(int line, const absl::FormatSpec<Args...>& format, const Args&... args) const {
    return ErrorAt(file_, line, absl::StrFormat(format, args...));
  }

  uint64_t nodes() const { return header_[kNodes]; }
  uint64_t pods() const { return nodes() / header_[kPodsize]; }
  uint64_t leaves_per_pod() const { return header_[kPodsize] / tiers_[0][kRadixDown]; }
  // How many switches of the tier above each switch of `tier` reaches.
  uint64_t Above(size_t tier) const { return tiers_[tier][kRadixUp] / tiers_[tier + 1][kBundle]; }

  const std::string& file_;
  Section header_{.title = "the header", .specs = kHeaderSpecs};
  std::vector<Section> tiers_;
};

absl::StatusOr<Topology> TopoReader::Read(const std::string& text) {
  for (const TextLine& line : SplitLines(text)) {
    if (absl::Status s = AddLine(line); !s.ok()) return s;
  }
  if (absl::Status s = CheckComplete(); !s.ok()) return s;
  if (absl::Status s = CheckPods(); !s.ok()) return s;
  if (absl::Status s = CheckUplinks(0, leaves_per_pod()); !s.ok()) return s;
  if (tiers_.size() == kTiersMax) {
    if (absl::Status s = CheckUplinks(1, pods()); !s.ok()) return s;
  }
  for (size_t t = 0; t + 1 < tiers_.size(); ++t) {
    if (absl::Status s = CheckOversubscription(t); !s.ok()) return s;
  }
  if (absl::Status s = CheckSize(); !s.ok()) return s;
  return BuildTiers(Shape());
}

absl::Status TopoReader::AddLine(const TextLine& line) {
  if (line.words.size() != 2) {
    return Error(line.number, "%d words; write a key and a number, such as \"Radix_Down 16\"",
                 line.words.size());
  }
  if (absl::EqualsIgnoreCase(line.words[0], "Tier")) return StartTier(line);
  Section& section = tiers_.empty() ? header_ : tiers_.back();
  for (size_t key = 0; key < section.specs.size(); ++key) {
    const KeySpec& spec = section.specs[key];
    if (!absl::EqualsIgnoreCase(line.words[0], spec.name)) continue;
    Section::Entry& entry = section.entries[key];
    if (entry.line != 0) {
      return Error(line.number, "%s is given again; line %d has it for %s already, so remove one",
                   spec.name, entry.line, section.title);
    }
    if (!ParseDigits(line.words[1], spec.max, &entry.value) || entry.value < spec.min) {
      return Error(line.number, "%s is \"%s\"; write a whole number from %d to %d", spec.name,
                   line.words[1], spec.min, spec.max);
    }
    entry.line = line.number;
    return absl::OkStatus();
  }
  return UnknownKey(section, line);
}

absl::Status TopoReader::UnknownKey(const Section& section, const TextLine& line) const {
  if (absl::StartsWithIgnoreCase(line.words[0], "Queue_")) {
    return Error(line.number, "%s is not read: queues are sized in the experiment; remove the line",
                 line.words[0]);
  }
  std::string allowed;
  for (const KeySpec& spec : section.specs) absl::StrAppend(&allowed, " ", spec.name);
  return Error(line.number, "unknown key \"%s\" in %s; it takes%s, then \"Tier\"", line.words[0],
               section.title, allowed);
}

absl::Status TopoReader::StartTier(const TextLine& line) {
  const size_t next = tiers_.size();
  if (header_.entries[kTiers].line == 0) {
    return Error(line.number, "a tier before \"Tiers\"; write \"Tiers 2\" or \"Tiers 3\" above it");
  }
  uint64_t tier = 0;
  if (next == header_[kTiers] || !ParseDigits(line.words[1], next, &tier) || tier != next) {
    return Error(line.number,
                 "found \"Tier %s\" after %d tiers of %d; number them in order from 0 and "
                 "make Tiers their count",
                 line.words[1], next, header_[kTiers]);
  }
  tiers_.push_back(
      {.line = line.number, .title = absl::StrCat("tier ", next), .specs = kTierSpecs});
  return absl::OkStatus();
}

absl::Status TopoReader::CheckComplete() const {
  if (absl::Status s = CheckSection(header_); !s.ok()) return s;
  if (tiers_.size() != header_[kTiers]) {
    return Error(header_.LineOf(kTiers),
                 "Tiers is %d, but %d follow; add the missing \"Tier\" sections or correct "
                 "the count",
                 header_[kTiers], tiers_.size());
  }
  for (const Section& tier : tiers_) {
    if (absl::Status s = CheckSection(tier); !s.ok()) return s;
  }
  return CheckTop();
}

absl::Status TopoReader::CheckSection(const Section& section) const {
  for (size_t key = 0; key < section.specs.size(); ++key) {
    const bool top = !tiers_.empty() && &section == &tiers_.back();
    if (top && key == kRadixUp) continue;
    if (!section.specs[key].required || section.entries[key].line != 0) continue;
    return Error(section.line, "%s has no %s; add the line \"%s <number>\"", section.title,
                 section.specs[key].name, section.specs[key].name);
  }
  return absl::OkStatus();
}

// The top tier has no uplinks, and a host has one link.
absl::Status TopoReader::CheckTop() const {
  for (const size_t key : {kRadixUp, kOversubscribed}) {
    if (tiers_.back().entries[key].line == 0) continue;
    return Error(tiers_.back().LineOf(key),
                 "%s in the top tier, which has no uplinks; remove the line", kTierSpecs[key].name);
  }
  if (tiers_[0][kBundle] != 1) {
    return Error(tiers_[0].LineOf(kBundle),
                 "Bundle %d in tier 0, but a host has one link; write \"Bundle 1\" and "
                 "raise Downlink_speed_Gbps",
                 tiers_[0][kBundle]);
  }
  return absl::OkStatus();
}

absl::Status TopoReader::CheckPods() const {
  if (nodes() % header_[kPodsize] != 0) {
    return Error(header_.LineOf(kPodsize),
                 "Podsize %d does not divide Nodes %d; make Nodes a multiple of it",
                 header_[kPodsize], nodes());
  }
  if (tiers_.size() == 2 && pods() != 1) {
    return Error(header_.LineOf(kPodsize),
                 "Podsize %d with Nodes %d, but two tiers are one pod; write \"Podsize "
                 "%d\" or add a tier",
                 header_[kPodsize], nodes(), nodes());
  }
  if (header_[kPodsize] % tiers_[0][kRadixDown] != 0) {
    return Error(tiers_[0].LineOf(kRadixDown),
                 "Radix_Down %d of tier 0 does not divide Podsize %d; every leaf takes the "
                 "same number of hosts",
                 tiers_[0][kRadixDown], header_[kPodsize]);
  }
  return absl::OkStatus();
}

// Every switch above `tier` reaches `below` of its switches: the leaves of a pod, or all pods.
absl::Status TopoReader::CheckUplinks(size_t tier, uint64_t below) const {
  const Section& lower = tiers_[tier];
  const Section& upper = tiers_[tier + 1];
  if (lower[kRadixUp] % upper[kBundle] != 0) {
    return Error(lower.LineOf(kRadixUp),
                 "Radix_Up %d of %s is no multiple of Bundle %d of %s; the uplinks are "
                 "spread over bundles of that size",
                 lower[kRadixUp], lower.title, upper[kBundle], upper.title);
  }
  const uint64_t want = below * upper[kBundle];
  if (upper[kRadixDown] != want) {
    return Error(upper.LineOf(kRadixDown),
                 "Radix_Down %d of %s does not match %d %s below with Bundle %d; write "
                 "\"Radix_Down %d\"",
                 upper[kRadixDown], upper.title, below, tier == 0 ? "leaves of a pod" : "pods",
                 upper[kBundle], want);
  }
  return absl::OkStatus();
}

absl::Status TopoReader::CheckOversubscription(size_t tier) const {
  const Section& lower = tiers_[tier];
  const uint64_t down = lower[kRadixDown] * lower[kSpeed];
  const uint64_t up = lower[kRadixUp] * tiers_[tier + 1][kSpeed];
  if (lower[kOversubscribed] == 0 || down == lower[kOversubscribed] * up) return absl::OkStatus();
  return Error(lower.LineOf(kOversubscribed),
               "Oversubscribed %d of %s, but its links carry %d Gb/s down and %d up; "
               "correct Radix_Up, or leave the line out",
               lower[kOversubscribed], lower.title, down, up);
}

absl::Status TopoReader::CheckSize() const {
  const uint64_t leaf_cables = pods() * leaves_per_pod() * tiers_[0][kRadixUp];
  uint64_t cables = nodes() + leaf_cables;
  if (tiers_.size() == kTiersMax) cables += pods() * Above(0) * tiers_[1][kRadixUp];
  if (cables <= kCablesMax) return absl::OkStatus();
  return Error(header_.LineOf(kNodes),
               "%d cables; at most %d are supported, so lower Nodes or Radix_Up", cables,
               kCablesMax);
}

Tier TopoReader::TierShape(size_t tier) const {
  const Section& section = tiers_[tier];
  return {.rate = Gbps(static_cast<int64_t>(section[kSpeed])),
          .delay = Nanos(static_cast<int64_t>(section[kLatency])),
          .switch_latency = Nanos(static_cast<int64_t>(section[kSwitchLatency])),
          .bundle = static_cast<uint32_t>(section[kBundle])};
}

TieredShape TopoReader::Shape() const {
  TieredShape shape{.pods = static_cast<uint32_t>(pods()),
                    .leaves_per_pod = static_cast<uint32_t>(leaves_per_pod()),
                    .hosts_per_leaf = static_cast<uint32_t>(tiers_[0][kRadixDown]),
                    .uppers_per_pod = static_cast<uint32_t>(Above(0)),
                    .leaf = TierShape(0),
                    .upper = TierShape(1)};
  if (tiers_.size() == kTiersMax) {
    shape.cores_per_upper = static_cast<uint32_t>(Above(1));
    shape.core = TierShape(2);
  }
  return shape;
}

}  // namespace

absl::StatusOr<Topology> ParseTopo(const std::string& text, const std::string& file) {
  return TopoReader(file).Read(text);
}

}  // namespace weir
