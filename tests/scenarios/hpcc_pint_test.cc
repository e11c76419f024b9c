// HPCC-PINT over one bottleneck and over two hops: what one byte tells is enough for the
// utilisation of HPCC, eta + N W_AI / BDP, give or take the 5 % of a code. 100 Gb/s, 12 us.
//
// Source: Ben Basat et al., SIGCOMM 2020.
#include "cc_algos/hpcc_pint.h"

#include "gtest/gtest.h"
#include "tests/support/bottleneck.h"

namespace weir {
namespace {

constexpr Rate kRate = Gbps(100);
constexpr Duration kRtt = Micros(12);
// Packets as small as in the model: 1024 bytes of payload.
constexpr uint16_t kSmall = 1024;
constexpr Bytes kSmallWire{kSmall + DataOverhead(false, InBand::kPathLoad)};
constexpr double kPacket = static_cast<double>(kSmallWire.count());
constexpr Duration kDelay = (kRtt - (kSmallWire / kRate + kAckWire / kRate) * 2) / 4;

NetworkSpec Spec(const Topology& topology) {
  return {.topology = topology,
          .binding = Bind("hpcc_pint"),
          .switches = {.path_load = true, .load_period = kRtt},
          .endpoint = {.base_rtt = kRtt, .max_queue = Millis(1), .payload_max = kSmall}};
}

TEST(HpccPintScenario, TheByteCostsFourBytesAPacket) {
  EXPECT_EQ(DataOverhead(false, InBand::kPathLoad), DataOverhead(false) + 4);
}

TEST(HpccPintScenario, UtilisationIsEtaAndTheIncreaseOfEverySender) {
  for (const uint32_t n : {1u, 2u, 8u}) {
    Network net(Spec(SingleBottleneck({.senders = n, .rate = kRate, .delay = kDelay})));
    const LinkId bottleneck = LinkTo(net.topology(), n);
    net.ConnectIncast(n);
    net.WriteAll();
    net.RunFor(Millis(2));
    net.Watch(bottleneck, Nanos(1'777));
    net.Mark();
    net.RunFor(Millis(3));
    const double utilisation =
        Measured("utilisation_" + std::to_string(n), net.Utilisation(bottleneck));
    EXPECT_NEAR(utilisation, 0.95 + n * 0.05 / 16, 0.03) << n;
    const double q99 =
        Measured("q99_packets_" + std::to_string(n), Quantile(net.queues(), 0.99) / kPacket);
    EXPECT_LT(q99, 3 + 2 * n) << n;
    EXPECT_GT(Measured("jain_" + std::to_string(n), net.Jain()), 0.98) << n;
  }
}

// The link between the leaves is the slowest, and not the last: the byte tells of it all the same.
TEST(HpccPintScenario, TheBusiestLinkOfTheWayCounts) {
  Topology topology =
      LeafSpine({.leaves = 2, .hosts_per_leaf = 1, .spines = 1, .rate = kRate, .delay = Micros(1)});
  const LinkId slow = LinkBetween(topology, 2, 4);
  topology.links[slow].rate = kRate / 4;
  Network net(Spec(topology));
  net.Connect({{0, 1}});
  net.WriteAll();
  net.RunFor(Millis(2));
  net.Watch(slow, Nanos(1'777));
  net.Mark();
  net.RunFor(Millis(3));
  EXPECT_GT(Measured("utilisation", net.Utilisation(slow)), 0.92);
  EXPECT_LT(Measured("utilisation", net.Utilisation(slow)), 0.99);
  EXPECT_LT(Measured("q99_packets", Quantile(net.queues(), 0.99) / kPacket), 4);
}

}  // namespace
}  // namespace weir
