// Flowlets in a fabric whose paths differ in length.
#include "lb_policies/flowlet.h"

#include "gtest/gtest.h"
#include "tests/support/bottleneck.h"

namespace weir {
namespace {

constexpr Rate kRate = Gbps(100);
constexpr Duration kSkew = Micros(20);
constexpr Duration kSpacing = Nanos(670);  // 4186 bytes at about half the line rate

// Two paths, one longer by kSkew.
Topology TwoPaths() {
  Topology topology =
      LeafSpine({.leaves = 2, .hosts_per_leaf = 1, .spines = 2, .rate = kRate, .delay = Micros(1)});
  topology.links[LinkBetween(topology, 2, 5)].delay += kSkew;  // leaf 0 to spine 1
  return topology;
}

NetworkSpec Spec(Duration pause, uint64_t seed) {
  const double rate = static_cast<double>((kMtu / kSpacing).count());
  NetworkSpec spec{
      .topology = TwoPaths(),
      .binding = Bind("none", {{"rate", rate}}, "flowlet",
                      {{"pause", static_cast<double>(pause.count())}}),
      .endpoint = {.base_rtt = Micros(40), .max_queue = Micros(40), .reorder_window = Millis(1)},
      .seed = seed};
  return spec;
}

struct Outcome {
  bool long_then_short = false;
  int64_t overtook = 0;  // packets that came before one sent earlier
};

// A message of 100 packets, a gap from its last packet to the first of the next, and another 100.
Outcome SendTwo(Duration pause, Duration gap, uint64_t seed) {
  constexpr int kPackets = 100;
  Network net(Spec(pause, seed));
  net.Connect({{0, 1}});
  const LinkId slow = LinkBetween(net.topology(), 2, 5);
  const auto on_slow = [&] { return net.world().fabric().port(slow).packets_out; };
  const WireId peer = net.endpoint(0).Find(net.id(0))->peer;
  const Receiver& receiver = net.endpoint(1).Find(peer)->receiver;
  const Psn first = receiver.cumulative();
  const Bytes size(kPackets * kPayload);

  const uint64_t before = on_slow();
  net.Write(0, size);
  while (net.counters().data_packets_sent < kPackets) net.world().Step(Time::Never());
  net.RunFor(gap);
  const bool first_slow = on_slow() >= before + kPackets;
  const uint64_t middle = on_slow();
  net.Write(0, size);
  Outcome outcome;
  const Time end = net.now() + Millis(1);
  while (net.world().Step(end)) {
    const auto arrived = static_cast<int64_t>(net.endpoint(1).counters().data_packets_received);
    const int64_t in_order = Distance(first, receiver.cumulative());
    outcome.overtook = std::max(outcome.overtook, arrived - in_order);
  }
  EXPECT_EQ(net.counters().data_packets_received, 2u * kPackets);
  outcome.long_then_short = first_slow && on_slow() < middle + kPackets / 2;
  return outcome;
}

// After the change, packets leave each `g`, and those overtake that leave before the last one of
// the old path has arrived: ceil((D1 - D2 - x) / g), where x is the gap. A sender whose pacer has
// paused makes up for 1 us of it and so is that much ahead.
TEST(FlowletScenario, AsManyOvertakeAsFitTheDifferenceLessTheGap) {
  for (const Duration gap : {Micros(4), Micros(10), Micros(16)}) {
    bool found = false;
    for (uint64_t seed = 1; seed <= 20 && !found; ++seed) {
      const Outcome outcome = SendTwo(gap / 2, gap, seed);
      if (!outcome.long_then_short) continue;
      found = true;
      const double expected = std::ceil(Ratio(kSkew - gap + Micros(1), kSpacing));
      EXPECT_EQ(static_cast<double>(outcome.overtook), expected) << gap.count();
    }
    EXPECT_TRUE(found);
  }
}

// T-FLET-1: a pause longer than the difference: nothing overtakes, whatever the paths.
TEST(FlowletScenario, APauseLongerThanTheDifferenceNeverReorders) {
  bool found = false;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const Outcome outcome = SendTwo(kSkew + kSpacing, kSkew + 2 * kSpacing, seed);
    EXPECT_EQ(outcome.overtook, 0) << seed;
    found = found || outcome.long_then_short;
  }
  EXPECT_TRUE(found);
}

// T-FLET-3: one packet at a time; of the gaps, some are longer than the pause and some are not.
TEST(FlowletScenario, AFlowletBeginsAtEachGapLongerThanThePause) {
  constexpr Duration kPause = Micros(30);
  Network net(Spec(kPause, 1));
  net.Connect({{0, 1}});
  Rng rng(7);
  uint64_t long_gaps = 0;
  net.Write(0, Bytes(1'000));
  for (int i = 0; i < 300; ++i) {
    const Duration gap = Micros(5) + Nanos(rng.Below(50'000));
    net.RunFor(gap);
    net.Write(0, Bytes(1'000));
    net.RunFor(Duration(0));
    long_gaps += gap > kPause;
  }
  EXPECT_GT(long_gaps, 50u);
  EXPECT_EQ(net.sender(0).lb().counters()[0], long_gaps);
}

}  // namespace
}  // namespace weir
