#include "testbed/experiment/compare.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_format.h"
#include "testbed/experiment/report.h"

namespace weir {
namespace {

using Json = nlohmann::json;

// Facts that may differ in a sound comparison: of the program itself, which is what is compared,
// and how an experiment is called and how many seeds it has, since runs are paired by seed.
const std::set<std::string> kExpected = {"version",
                                         "revision",
                                         "experiment.name",
                                         "experiment.source",
                                         "experiment.seeds",
                                         "experiment.given.name",
                                         "experiment.given.run.seeds"};
// Facts of the machine, which virtual time does not depend on.
const std::set<std::string> kOfTheMachine = {"system", "cpu", "clock"};

std::string TextOf(const Json& json) {
  std::string text = json.is_string() ? json.get<std::string>() : json.dump();
  constexpr size_t kLongest = 120;
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

bool IsVirtual(const StoredResult& r) {
  return std::ranges::all_of(r.runs, [](const RunResult& run) { return !run.real_time; });
}

// Leaves of objects and arrays by their path.
void Flatten(const std::string& path, const Json& json, std::map<std::string, std::string>& out) {
  if (!json.is_structured()) {
    out[path] = TextOf(json);
    return;
  }
  for (const auto& [key, value] : json.items()) {
    Flatten(path.empty() ? key : path + "." + key, value, out);
  }
}

bool IsExpected(const std::string& fact, bool is_virtual) {
  for (const std::string& expected : kExpected) {
    if (fact == expected || fact.compare(0, expected.size() + 1, expected + ".") == 0) return true;
  }
  return is_virtual && kOfTheMachine.contains(fact);
}

std::map<std::string, std::string> FactsOf(const StoredResult& r) {
  std::map<std::string, std::string> facts;
  Flatten("", r.fingerprint, facts);
  Flatten("experiment", r.experiment, facts);
  return facts;
}

std::vector<FactChange> ChangesOf(const StoredResult& base, const StoredResult& fresh) {
  const bool is_virtual = IsVirtual(base) && IsVirtual(fresh);
  const std::map<std::string, std::string> before = FactsOf(base);
  const std::map<std::string, std::string> after = FactsOf(fresh);
  std::set<std::string> names;
  for (const auto& [name, value] : before) names.insert(name);
  for (const auto& [name, value] : after) names.insert(name);
  std::vector<FactChange> changes;
  for (const std::string& name : names) {
    const std::string a = before.contains(name) ? before.at(name) : "(nothing)";
    const std::string b = after.contains(name) ? after.at(name) : "(nothing)";
    if (a != b) changes.push_back({name, a, b, !IsExpected(name, is_virtual)});
  }
  return changes;
}

struct Key {
  std::string point;
  std::string arm;
  auto operator<=>(const Key&) const = default;
};
using BySeed = std::map<uint64_t, const RunResult*>;

std::map<Key, BySeed> Index(const StoredResult& r) {
  std::map<Key, BySeed> index;
  for (size_t i = 0; i < r.runs.size(); ++i) {
    index[{r.points[i], r.runs[i].arm}][r.runs[i].seed] = &r.runs[i];
  }
  return index;
}

std::string NameOf(const Key& key) {
  return key.point.empty() ? key.arm : key.arm + " at " + key.point;
}

}  // namespace

absl::StatusOr<Comparison> CompareResults(const StoredResult& base, const StoredResult& fresh) {
  Comparison out;
  out.changes = ChangesOf(base, fresh);
  const std::map<Key, BySeed> before = Index(base);
  const std::map<Key, BySeed> after = Index(fresh);
  for (const auto& [key, runs] : after) {
    if (!before.contains(key))
      out.left_out.push_back(NameOf(key) + " (only in " + fresh.file + ")");
  }
  for (const auto& [key, runs] : before) {
    const auto other = after.find(key);
    if (other == after.end()) {
      out.left_out.push_back(NameOf(key) + " (only in " + base.file + ")");
      continue;
    }
    const auto unfinished = [](const BySeed& all) {
      return std::ranges::count_if(all, [](const auto& r) { return !r.second->finished; });
    };
    if (const auto now = unfinished(other->second); now > unfinished(runs)) {
      out.unfinished.push_back(absl::StrFormat("%s: %d of %d runs do not finish, %d did not before",
                                               NameOf(key), now, other->second.size(),
                                               unfinished(runs)));
    }
    // The two sides of a pair are told apart by their arm's name.
    std::vector<uint64_t> seeds;
    std::vector<RunResult> pairs;
    for (const auto& [seed, run] : runs) {
      const auto match = other->second.find(seed);
      if (match == other->second.end()) continue;
      seeds.push_back(seed);
      pairs.push_back(*run);
      pairs.back().arm = "base";
      pairs.push_back(*match->second);
      pairs.back().arm = NameOf(key);
      if (run->digest != 0 && run->digest == match->second->digest) ++out.identical;
    }
    if (seeds.empty()) {
      out.left_out.push_back(NameOf(key) + " (no seed in common)");
      continue;
    }
    out.arms.push_back(Differences({"base", NameOf(key)}, seeds, pairs));
  }
  if (out.arms.empty()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s and %s have no arm with a seed in common; compare results of one experiment", base.file,
        fresh.file));
  }
  std::vector<AbResult*> all;
  for (AbResult& ab : out.arms) all.push_back(&ab);
  Judge(all, kAlpha);
  return out;
}

std::string ComparisonText(const Comparison& c, bool brief) {
  std::string out;
  bool unsound = false;
  for (const FactChange& change : c.changes) {
    out += absl::StrFormat("%s %s: %s -> %s\n", change.unsound ? "DIFFERS" : "differs", change.fact,
                           change.base, change.fresh);
    unsound |= change.unsound;
  }
  if (c.changes.empty()) out += "fingerprints and configuration are the same\n";
  if (unsound) {
    out +=
        "the comparison is UNSOUND as one of two versions of the program: what DIFFERS may be "
        "the cause of any difference below\n";
  }
  for (const std::string& name : c.left_out) out += "left out: " + name + "\n";
  size_t runs = 0;
  for (const AbResult& ab : c.arms) runs += ab.seeds.size();
  if (c.identical > 0) {
    out += absl::StrFormat("%d of %d pairs of runs are the same to the bit\n", c.identical, runs);
  }
  for (const AbResult& ab : c.arms) out += brief ? VerdictText(ab) : AbTable(ab) + "\n";
  return out;
}

bool CanJudge(const Comparison& c) {
  size_t runs = 0;
  bool judged = false;
  for (const AbResult& ab : c.arms) {
    runs += ab.seeds.size();
    judged |= ab.verdicts.front().word != kNoVerdict;
  }
  return judged || c.identical == runs;
}

std::vector<std::string> Regressions(const Comparison& c, double tolerance) {
  std::vector<std::string> out = c.unfinished;
  for (const AbResult& ab : c.arms) {
    for (const AbDifference& d : ab.differences) {
      if (!d.decides || !d.worse() || std::abs(d.relative) <= tolerance) continue;
      out.push_back(absl::StrFormat("%s: %s %+.2f %%", d.arm, d.metric, 100 * d.relative));
    }
  }
  return out;
}

}  // namespace weir
