// REPS in a fabric: what is good comes back, what is bad does not. Source: Bonato et al., EuroSys
// 2026 (arXiv 2407.21625).
#include "lb_policies/reps.h"

#include "gtest/gtest.h"
#include "tests/support/bottleneck.h"
#include "tests/support/slow_path.h"

namespace weir {
namespace {

constexpr uint32_t kSpines = 8;
constexpr double kSigmas = 3;

enum Counter { kExplored, kRecycled, kReused, kFreezes };

// The set-up of the paper's failures: a window of a hundred packets over eight paths, 400 Gb/s,
// RTT 10 us, RTO 70 us.
constexpr Rate kRate = Gbps(400);
constexpr Duration kRtt = Micros(10);
constexpr Duration kRto = Micros(70);
constexpr double kWindow = 100;

NetworkSpec OneFlow(const CcEntry& none, const char* policy, Params params = {},
                    uint64_t seed = 1) {
  NetworkSpec spec{.topology = LeafSpine({.leaves = 2,
                                          .hosts_per_leaf = 1,
                                          .spines = kSpines,
                                          .rate = kRate,
                                          .delay = DelayFor(kRtt, kRate, 4)}),
                   .binding = Bind(none, {{"window", kWindow * static_cast<double>(kMtu.count())}},
                                   policy, params),
                   .endpoint = {.rto_min = kRto},
                   .seed = seed};
  spec.binding.paths = 4096;
  return spec;
}
// From the sender's leaf to spine 0, and back.
LinkId FirstUp(Network& net) {
  return LinkBetween(net.topology(), net.topology().hosts, net.topology().hosts + 2);
}

// T-REPS-2: one of eight paths becomes a black hole. An eighth of the window is in it, and an
// eighth of what replaces that, and so on: W/m (1 + 1/m + ..) = 12.5 * 8/7 = 14.3 packets; then it
// is forgotten, by one time-out and one round trip after the failure at the latest.
TEST(RepsScenario, ABlackHoleIsForgottenWithinATimeoutAndARoundTrip) {
  const CcEntry none = AckEachPacket("none");
  double total = 0;
  constexpr int kRuns = 5;
  for (uint64_t seed = 1; seed <= kRuns; ++seed) {
    Network net(OneFlow(none, "reps", {}, seed));
    net.Connect({{0, 1}});
    net.Write(0);
    net.RunFor(Micros(200));
    net.world().fabric().SetImpairment(FirstUp(net), {.loss = 1});
    net.RunFor(kRto + kRtt);
    const uint64_t lost = net.fabric().lost_by_fault;
    total += static_cast<double>(lost);
    net.Mark();
    net.RunFor(Millis(1));
    EXPECT_EQ(net.fabric().lost_by_fault, lost) << seed;
    // 100 packets each 10 us are 84 % of the line.
    EXPECT_GT(net.Rates()[0], 0.97 * kWindow * static_cast<double>(kMtu.count()) * 8 / 10e-6);
  }
  const double mean = Measured("lost", total / kRuns);
  EXPECT_GT(mean, 5);
  EXPECT_LT(mean, 14.3 + kSigmas * std::sqrt(14.3 / kRuns));
}

// And who does not learn loses an eighth for as long as it lasts.
TEST(RepsScenario, WithoutFeedbackTheBlackHoleKeepsItsShare) {
  const CcEntry none = AckEachPacket("none");
  Network net(OneFlow(none, "oblivious"));
  net.Connect({{0, 1}});
  net.Write(0);
  net.RunFor(Micros(200));
  net.world().fabric().SetImpairment(FirstUp(net), {.loss = 1});
  net.RunFor(kRto + kRtt);
  const FabricStats before = net.fabric();
  const uint64_t sent = net.counters().data_packets_sent;
  net.RunFor(Millis(1));
  const auto lost = static_cast<double>(net.fabric().lost_by_fault - before.lost_by_fault);
  const auto all = static_cast<double>(net.counters().data_packets_sent - sent);
  EXPECT_NEAR(Measured("share", lost / all), 1.0 / 8, 0.02);
}

// T-REPS-3: an outage of everything freezes the known paths. The black hole is not tried until the
// freeze ends; then one BDP of packets explores, of which an eighth is lost, and an eighth of what
// replaces that.
TEST(RepsScenario, ThawingExploresOnce) {
  const CcEntry none = AckEachPacket("none");
  Network net(OneFlow(none, "reps", {{"freezing_timeout", 500e3}}));
  const LinkId uplink = LinkBetween(net.topology(), 0, 2);
  const auto count = [&](Counter which) { return net.sender(0).lb().counters()[which]; };
  net.Connect({{0, 1}});
  net.Write(0);
  net.RunFor(Micros(200));
  net.world().fabric().SetImpairment(FirstUp(net), {.loss = 1});
  net.RunFor(Micros(200));
  EXPECT_EQ(count(kFreezes), 0u);
  net.world().fabric().SetImpairment(uplink, {.loss = 1});
  while (count(kFreezes) == 0 && net.now() < Time(0) + Millis(2)) net.RunFor(Micros(1));
  ASSERT_EQ(count(kFreezes), 1u);
  net.world().fabric().SetImpairment(uplink, {});
  net.RunFor(3 * kRtt);  // the outage's own losses are over
  const uint64_t before = net.fabric().lost_by_fault;
  net.RunFor(Micros(400));
  EXPECT_EQ(net.fabric().lost_by_fault, before);  // frozen
  net.RunFor(Micros(100) + kRto + kRtt);
  const auto lost = static_cast<double>(net.fabric().lost_by_fault - before);
  const double explored = Ratio(kRate * kRtt, kMtu) + 1;  // one BDP, in packets
  EXPECT_GT(Measured("lost", lost), 0);
  EXPECT_LE(lost, explored / 8 * 8 / 7 + kSigmas * std::sqrt(explored / 8));
  const uint64_t after = net.fabric().lost_by_fault;
  net.RunFor(Micros(500));
  EXPECT_EQ(net.fabric().lost_by_fault, after);
}

// T-REPS-4.
TEST(RepsScenario, APathOfATenthIsDownToItsShareWithinTenRtts) {
  EXPECT_LT(Measured("reps", ShareOfASlowPath("reps")), 0.03);
  EXPECT_NEAR(Measured("oblivious", ShareOfASlowPath("oblivious")), 1.0 / 8, 0.03);
}

// An incast marks at the last hop, which says nothing about paths: there marking must be off.
// LB-19.9
TEST(RepsScenario, MarksOfTheLastHopWouldDiscardAllPaths) {
  double recycled[2] = {};
  const CcEntry nscc = AckEachPacket("nscc");
  for (const bool mark_last_hop : {false, true}) {
    NetworkSpec spec{.topology = LeafSpine({.leaves = 2,
                                            .hosts_per_leaf = 8,
                                            .spines = kSpines,
                                            .rate = Gbps(100),
                                            .delay = DelayFor(Micros(12), Gbps(100), 4)}),
                     .binding = Bind(nscc, {}, "reps"),
                     .switches = {.mark_min = Bytes(30'000),
                                  .mark_max = Bytes(120'000),
                                  .mark_last_hop = mark_last_hop},
                     .endpoint = {.max_queue = Millis(1)}};
    Network net(spec);
    std::vector<TrafficConnection> pairs;
    for (uint32_t h = 0; h < 8; ++h) pairs.push_back({h, 15});
    net.Connect(pairs);
    net.WriteAll();
    net.RunFor(Millis(1));
    uint64_t before[2] = {};
    uint64_t after[2] = {};
    for (uint32_t f = 0; f < 8; ++f) {
      for (int c : {0, 1}) before[c] += net.sender(f).lb().counters()[c];
    }
    net.RunFor(Millis(1));
    for (uint32_t f = 0; f < 8; ++f) {
      for (int c : {0, 1}) after[c] += net.sender(f).lb().counters()[c];
    }
    const auto explored = static_cast<double>(after[0] - before[0]);
    const auto known = static_cast<double>(after[1] - before[1]);
    recycled[mark_last_hop] =
        Measured(mark_last_hop ? "recycled_marking" : "recycled", known / (known + explored));
  }
  EXPECT_GT(recycled[false], 0.9);
  EXPECT_LT(recycled[true], 0.3);
}

}  // namespace
}  // namespace weir
