// What each policy does when one of eight paths becomes a black hole.
#include <cstdio>

#include "gtest/gtest.h"
#include "tests/support/bottleneck.h"
#include "tests/support/plugin_checks.h"

namespace weir {
namespace {

constexpr uint32_t kSpines = 8;
constexpr Rate kRate = Gbps(400);
constexpr Duration kRtt = Micros(10);
constexpr Duration kRto = Micros(70);
constexpr double kWindow = 100;  // packets: 84 % of the line
constexpr Duration kWatched = Millis(1);

struct Reaction {
  Duration last_loss{};  // after the failure
  double lost = 0;       // packets
  double goodput = 0;    // of before
  bool failed = false;
};

// A window of a hundred packets over 256 values and eight spines. The spine that carries most dies.
Reaction React(const char* policy, uint64_t seed) {
  const CcEntry none = AckEachPacket("none");
  NetworkSpec spec{
      .topology = LeafSpine({.leaves = 2,
                             .hosts_per_leaf = 1,
                             .spines = kSpines,
                             .rate = kRate,
                             .delay = DelayFor(kRtt, kRate, 4)}),
      .binding = Bind(none, {{"window", kWindow * static_cast<double>(kMtu.count())}}, policy),
      .endpoint = {.rto_min = kRto},
      .seed = seed};
  spec.binding.paths = 256;
  Network net(spec);
  net.Connect({{0, 1}});
  net.Write(0);
  net.RunFor(Micros(200));
  net.Mark();
  net.RunFor(Micros(200));
  const double before = net.Rates()[0];
  LinkId most = 0;
  for (uint32_t s = 0; s < kSpines; ++s) {
    const LinkId link = LinkBetween(net.topology(), 2, 4 + s);
    const Fabric& fabric = net.world().fabric();
    if (s == 0 || fabric.port(link).bytes_out > fabric.port(most).bytes_out) most = link;
  }
  net.world().fabric().SetImpairment(most, {.loss = 1});
  const Time failure = net.now();
  Reaction reaction;
  uint64_t lost = 0;
  net.Mark();
  while (net.now() < failure + kWatched) {
    net.RunFor(Micros(1));
    if (net.fabric().lost_by_fault == lost) continue;
    lost = net.fabric().lost_by_fault;
    reaction.last_loss = net.now() - failure;
  }
  reaction.lost = static_cast<double>(lost);
  reaction.goodput = net.Rates()[0] / before;
  reaction.failed = net.failed();
  return reaction;
}

class PathFailureScenario : public testing::TestWithParam<const LbEntry*> {
 protected:
  bool Is(const char* name) const { return std::string(GetParam()->name) == name; }
};

// Sections 10 and 16, LB-19.5. The table of docs/policies.md is what this prints.
TEST_P(PathFailureScenario, OneOfEightPathsIsABlackHole) {
  constexpr int kRuns = 5;
  double lost = 0;
  double goodput = 0;
  Duration longest{};
  for (uint64_t seed = 1; seed <= kRuns; ++seed) {
    const Reaction r = React(GetParam()->name, seed);
    lost += r.lost / kRuns;
    goodput += r.goodput / kRuns;
    longest = std::max(longest, r.last_loss);
    EXPECT_FALSE(r.failed);
  }
  Measured("lost", lost);
  Measured("goodput", goodput);
  Measured("last_loss_us", static_cast<double>(longest.count()) / 1000);
  if (Is("reps") || Is("ev_set") || Is("mixed") || Is("plane") || Is("weighted")) {
    EXPECT_LT(longest, Micros(100) + kRto);
    EXPECT_LT(lost, kWindow);  // the bound of one eighth of the window, and of what replaces it
    EXPECT_GT(goodput, 0.97);
  }
  if (Is("oblivious") || Is("round_robin") || Is("random")) {
    // An eighth of all packets, for as long as it lasts.
    EXPECT_GT(lost, 1000);
  }
  if (Is("bitmap") || Is("power_of_two") || Is("mprdma_paths")) {
    EXPECT_LT(lost, 279);  // what the model of the reference loses with decaying penalties
  }
  if (Is("plb") || Is("prr")) {
    EXPECT_LT(longest, 6 * kRto);  // up to two time-outs of one and two RTO, found late
  }
  std::printf("| %s | %.0f us | %.0f | %.2f |\n", GetParam()->name,
              static_cast<double>(longest.count()) / 1000, lost, goodput);
}

INSTANTIATE_TEST_SUITE_P(Registry, PathFailureScenario, testing::ValuesIn(Pointers(AllLb())),
                         EntryName<LbEntry>);

}  // namespace
}  // namespace weir
