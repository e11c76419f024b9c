// The trace of every pair of algorithm and policy, bit for bit. A digest covers each packet's
// arrival at each hop, to the nanosecond.
//
// A change of behaviour changes digests, and the commit says why. To record them anew:
//
//   WEIR_UPDATE_GOLDEN=1 build/.../weir_scenarios_tests --gtest_filter='*Golden*'
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "testbed/experiment/runner.h"
#include "tests/support/bottleneck.h"

namespace weir {
namespace {

constexpr const char* kFile = WEIR_SOURCE_DIR "/tests/golden/digests.txt";

std::map<std::string, std::string> ReadDigests() {
  std::map<std::string, std::string> digests;
  std::ifstream file(kFile);
  std::string name;
  std::string digest;
  while (file >> name >> digest) digests[name] = digest;
  return digests;
}

void WriteDigests(const std::map<std::string, std::string>& digests) {
  std::ofstream file(kFile);
  for (const auto& [name, digest] : digests) file << name << ' ' << digest << '\n';
}

// Sixteen hosts: each sends to one other, then eight send to one, while one link loses packets and
// another runs slowly.
Experiment GoldenExperiment() {
  Experiment e;
  e.fabric.topology = LeafSpine(
      {.leaves = 4, .hosts_per_leaf = 4, .spines = 4, .rate = Gbps(100), .delay = Nanos(700)});
  e.fabric.switches.trimming = true;
  // For those who leave room for it.
  e.fabric.switches.telemetry = e.fabric.switches.path_load = true;
  Traffic traffic = Permutation(16, Bytes(150'000), 5);
  for (uint32_t sender = 4; sender < 12; ++sender) {
    traffic.transfers.push_back({.connection = static_cast<uint32_t>(traffic.connections.size()),
                                 .size = Bytes(80'000),
                                 .start = Micros(10)});
    traffic.connections.push_back({.from = sender, .to = 15});
  }
  e.traffic = {.kind = TrafficKind::kMatrix, .matrix = traffic};
  e.faults = {{.kind = FaultKind::kImpairment,
               .target = LinkBetween(e.fabric.topology, 16, 20),
               .at = Micros(5),
               .impairment = {.loss = 0.02, .reordering = 0.05}},
              {.kind = FaultKind::kLinkDegraded,
               .target = LinkBetween(e.fabric.topology, 17, 22),
               .at = Micros(3),
               .share = 0.25}};
  e.time_limit = Millis(50);
  return e;
}

RunResult RunPair(const Experiment& experiment, const CcEntry& cc, const LbEntry& lb,
                  uint64_t seed) {
  Arm arm;
  arm.name = absl::StrFormat("%s/%s", cc.name, lb.name);
  arm.binding = Bind(cc, {}, lb.name);
  return RunArm(experiment, arm, seed);
}

// Sanitizers make a run tens of times slower; then each 7th pair is run, so that every algorithm
// and every policy has its turns.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kEachPair = 7;
#else
constexpr int kEachPair = 1;
#endif

TEST(GoldenScenario, EveryPairOfAlgorithmAndPolicyRepeatsItsTrace) {
  const bool update = std::getenv("WEIR_UPDATE_GOLDEN") != nullptr;
  const Experiment experiment = GoldenExperiment();
  const std::map<std::string, std::string> recorded = ReadDigests();
  std::map<std::string, std::string> now;
  int pairs = 0;
  for (const CcEntry& cc : AllCc()) {
    for (const LbEntry& lb : AllLb()) {
      if (Bind(cc, {}, lb.name).mismatch() != nullptr) continue;
      const std::string name = absl::StrFormat("%s/%s", cc.name, lb.name);
      now[name] = "";
      if (pairs++ % kEachPair != 0 && !update) continue;
      const RunResult run = RunPair(experiment, cc, lb, 1);
      EXPECT_TRUE(run.finished) << name;
      EXPECT_TRUE(run.breaches.empty()) << name << ": " << run.breaches[0];
      now[name] = absl::StrFormat("%016x", run.digest);
      if (update) continue;
      const auto it = recorded.find(name);
      if (it == recorded.end()) {
        ADD_FAILURE() << name << " has no digest in " << kFile
                      << "; record it with WEIR_UPDATE_GOLDEN=1 and read what changed";
      } else {
        EXPECT_EQ(now[name], it->second) << name << " does not repeat its recorded trace";
      }
    }
  }
  if (update) return WriteDigests(now);
  for (const auto& [name, _] : recorded) {
    EXPECT_TRUE(now.contains(name)) << name << " is recorded, but not in the registries";
  }
}

// What of a pair can show in this experiment; two pairs of one kind may have the same trace.
std::pair<std::string, std::string> KindOf(const std::string& pair) {
  const size_t slash = pair.find('/');
  std::string cc = pair.substr(0, slash);
  std::string lb = pair.substr(slash + 1);
  // These draw the same from the same seed, and differ only once they have news of a path and use
  // it again: one path, or all 64 in turn, of which no transfer here needs more than one pass.
  const bool one_path = lb == "ecmp" || lb == "plb" || lb == "prr" || lb == "qp_scaling";
  const bool in_turn = lb == "oblivious" || lb == "bitmap" || lb == "ev_set";
  // No receiver falls behind here; one path is its own median, and the window of NSCC follows marks
  // and trims before it follows delays.
  if (cc == "falcon") cc = "swift";
  if ((one_path || lb == "pinned") && cc == "mswift") cc = "swift";
  if (cc == "mnscc") cc = "nscc";
  if (one_path) lb = "one path";
  if (in_turn) lb = "in turn";
  return {cc, lb};
}

// A digest is worth something only if it notices: seeds, algorithms and policies all show.
TEST(GoldenScenario, DigestsTellRunsApart) {
  const Experiment experiment = GoldenExperiment();
  const auto digest = [&](const char* cc, const char* lb, uint64_t seed) {
    return RunPair(experiment, *FindCc(cc), *FindLb(lb), seed).digest;
  };
  const uint64_t first = digest("nscc", "reps", 1);
  EXPECT_EQ(digest("nscc", "reps", 1), first);
  EXPECT_NE(digest("nscc", "reps", 2), first);
  EXPECT_NE(digest("dctcp", "reps", 1), first);
  EXPECT_NE(digest("nscc", "oblivious", 1), first);
  const std::map<std::string, std::string> recorded = ReadDigests();
  std::map<std::string, std::string> owner;
  for (const auto& [name, value] : recorded) {
    const auto [other, fresh] = owner.emplace(value, name);
    EXPECT_TRUE(fresh || KindOf(name) == KindOf(other->second))
        << name << " and " << other->second << " have the same trace";
  }
}

}  // namespace
}  // namespace weir
