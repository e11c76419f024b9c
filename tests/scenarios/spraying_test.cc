// Permutations over a leaf-spine: one path against many, and what a slow link does to each policy.
// The orders and ratios are those that uet-htsim records for 1024 hosts (datacenter/
// validate_outputs): single path 890 us, oblivious 213, REPS 198; with 8 slow core links oblivious
// 281, REPS 207; here on tens of hosts.
#include <map>

#include "gtest/gtest.h"
#include "testbed/experiment/runner.h"
#include "tests/support/bottleneck.h"

namespace weir {
namespace {

struct Case {
  const CcEntry* algorithm = FindCc("nscc");
  const char* policy = "reps";
  LeafSpineShape shape{};
  std::vector<Fault> faults{};
};

// The makespan of a permutation of 2 MB over the mean of `seeds`, in us.
double Makespan(const Case& c, int seeds = 2) {
  Experiment e;
  e.fabric.topology = LeafSpine(c.shape);
  e.fabric.switches.trimming = true;
  e.traffic = {.kind = TrafficKind::kPermutation, .size = Bytes(2'000'000)};
  e.faults = c.faults;
  e.time_limit = Millis(50);
  Arm arm;
  arm.name = c.policy;
  arm.binding = Bind(*c.algorithm, {}, c.policy);
  arm.binding.paths = 128;
  double sum = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    const RunResult r = RunArm(e, arm, static_cast<uint64_t>(seed));
    EXPECT_TRUE(r.finished) << c.algorithm->name << " " << c.policy << " seed " << seed;
    EXPECT_TRUE(r.breaches.empty()) << r.breaches[0];
    sum += static_cast<double>(r.makespan.count()) / 1000;
  }
  return sum / seeds;
}

// As many ways up as hosts below each leaf.
constexpr LeafSpineShape kFull{
    .leaves = 4, .hosts_per_leaf = 4, .spines = 4, .rate = Gbps(100), .delay = Micros(1)};
// Twice as many, so that without one of them there is still room.
constexpr LeafSpineShape kRoomy{
    .leaves = 4, .hosts_per_leaf = 4, .spines = 8, .rate = Gbps(100), .delay = Micros(1)};

// 489 packets of 4186 bytes take 164 us; the reference needs 194 us sprayed and 528 us on single
// paths, with 16 hosts.
TEST(SprayingScenario, APermutationOnSinglePathsTakesFarLonger) {
  for (const char* algorithm : {"nscc", "rccc"}) {
    const double sprayed =
        Measured(std::string(algorithm) + "_sprayed",
                 Makespan({.algorithm = FindCc(algorithm), .policy = "oblivious", .shape = kFull}));
    const double single =
        Measured(std::string(algorithm) + "_single",
                 Makespan({.algorithm = FindCc(algorithm), .policy = "ecmp", .shape = kFull}));
    EXPECT_LT(sprayed, 230) << algorithm;
    EXPECT_GT(single / sprayed, 1.7) << algorithm;
  }
}

// T-REPS-5.
TEST(SprayingScenario, FeedbackIsNotWorseThanObliviousOnAHealthyFabric) {
  for (const char* algorithm : {"nscc", "rccc"}) {
    const double oblivious =
        Measured(std::string(algorithm) + "_oblivious",
                 Makespan({.algorithm = FindCc(algorithm), .policy = "oblivious", .shape = kFull}));
    const double reps =
        Measured(std::string(algorithm) + "_reps",
                 Makespan({.algorithm = FindCc(algorithm), .policy = "reps", .shape = kFull}));
    EXPECT_LE(reps, 1.02 * oblivious) << algorithm;
  }
}

// Section 12: on a healthy fabric feedback policies are about as good as each other. In the
// reference those that go through the paths in turn are 4 % behind those that recycle (bitmap 201,
// mixed 193 us), on sixteen hosts 5 %; without feedback it is 9 %.
TEST(SprayingScenario, FeedbackPoliciesAreAlikeOnAHealthyFabric) {
  const auto took = [](const char* policy) {
    return Measured(policy, Makespan({.policy = policy, .shape = kFull}, 6));
  };
  const double reps = took("reps");
  for (const char* policy : {"mixed", "mprdma_paths"}) {
    EXPECT_NEAR(took(policy) / reps, 1, 0.02) << policy;
  }
  const double oblivious = took("oblivious");
  for (const char* policy : {"bitmap", "ev_set"}) {
    const double t = took(policy);
    EXPECT_LE(t, 1.06 * reps) << policy;
    EXPECT_LT(t, oblivious) << policy;
  }
}

// How many bytes an acknowledgement may wait for; an entry of the registry has no room for it.
int64_t ack_every = 0;

// T-REPS-6, LB-19.10: the more packets an acknowledgement covers, the worse REPS gets. The
// reference has 208 us with four packets against 198. An acknowledgement here names every packet,
// not only the last, so that it costs nothing until one brings as many paths as the eight that are
// remembered.
TEST(SprayingScenario, CoalescedAcknowledgementsOverrunTheMemoryOfReps) {
  CcEntry nscc = *FindCc("nscc");
  nscc.duty = [](const FlowInfo&, const ConfigBlob&) {
    return ReceiverDuty{.ack_every = Bytes(ack_every)};
  };
  std::map<int64_t, double> took;
  for (const int64_t packets : {1, 2, 4, 8}) {
    ack_every = packets == 1 ? 0 : packets * kMtu.count();
    took[packets] =
        Measured("reps_" + std::to_string(packets), Makespan({.algorithm = &nscc, .shape = kFull}));
  }
  EXPECT_LE(took[2], 1.05 * took[1]);
  EXPECT_LE(took[4], 1.05 * took[1]);
  EXPECT_GT(took[8], took[4]);
}

// Two of the 32 cables between switches are slow. The reference slows down by 1.05 with REPS if
// each packet is acknowledged (and by 1.18 if only every fourth is), by 1.32 without feedback. What
// is left with REPS are packets that wait unmarked at the slow link, at most 0.2 BDP of them: at
// the end of a transfer 23 kB at a quarter of 100 Gb/s take 7.5 us, at a tenth 19 us.
TEST(SprayingScenario, ASlowLinkHurtsWhoDoesNotLook) {
  const CcEntry each = AckEachPacket("nscc");
  const Topology topology = LeafSpine(kRoomy);
  const auto makespan = [&](const char* policy, double share) {
    std::vector<Fault> faults;
    for (const NodeId leaf : {16u, 18u}) {
      faults.push_back({.kind = FaultKind::kLinkDegraded,
                        .target = LinkBetween(topology, leaf, 20 + leaf % 8),
                        .share = share});
    }
    return Measured(
        std::string(policy) + "_" + std::to_string(share),
        Makespan({.algorithm = &each, .policy = policy, .shape = kRoomy, .faults = faults}));
  };
  // Eight links of 1 us, four full packets and four acknowledgements of about 9 ns.
  const Duration rtt = Micros(8) + 4 * (kMtu / Gbps(100)) + Nanos(36);
  const Bytes unmarked = Gbps(100) * rtt / 5;
  const double oblivious = makespan("oblivious", 1);
  const double reps = makespan("reps", 1);
  for (const double share : {0.25, 0.1}) {
    EXPECT_GE(makespan("oblivious", share), 1.3 * oblivious) << share;
    const Duration wait = unmarked / Scaled(Gbps(100), share);
    const double slow = makespan("reps", share);
    EXPECT_LE(slow, reps + static_cast<double>(wait.count()) / 1000 + 2) << share;
    if (share == 0.25) {
      EXPECT_LE(slow, 1.05 * reps);
    }
    // LB-19.4. Mixed does as REPS. Bitmap goes back to a marked path after a pass, so that there
    // the queue stays where marking is: at most 0.8 BDP, of which it hears an RTT later.
    const Duration longest = 4 * wait + rtt;
    EXPECT_LE(makespan("mixed", share), 1.10 * makespan("mixed", 1)) << share;
    EXPECT_LE(makespan("bitmap", share),
              makespan("bitmap", 1) + static_cast<double>(longest.count()) / 1000)
        << share;
  }
}

}  // namespace
}  // namespace weir
