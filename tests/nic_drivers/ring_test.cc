// Devices over rings: the driver without any hardware's or kernel's part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "nic_drivers/dpdk/ring_pair.h"
#include "tests/nic_drivers/exchange.h"

namespace weir {
namespace {

using testing::HasSubstr;

struct Pair {
  std::unique_ptr<NicDevice> a, b;
};

DeviceOptions HostOptions(int host, bool v6 = false) {
  DeviceOptions options;
  options.address = (v6 ? "fd00::" : "10.0.0.") + std::to_string(host) + (v6 ? "/64" : "/24");
  options.mtu = 4200;
  return options;
}

Pair OpenPair(const DeviceOptions& a, const DeviceOptions& b) {
  auto pair = OpenRingPair(a, b);
  if (!pair.ok()) {
    ADD_FAILURE() << pair.status().message();
    return {};
  }
  return {std::move(pair->first), std::move(pair->second)};
}

TEST(DpdkRingTest, MessagesOfAllSizesArriveWithoutACopyOnTheWayOut) {
  Pair pair = OpenPair(HostOptions(1), HostOptions(2));
  EXPECT_EQ(RunExchange(*pair.a, *pair.b), "");
  for (NicDevice* device : {pair.a.get(), pair.b.get()}) {
    const DeviceCounters c = device->counters();
    EXPECT_EQ(c.tx_copied, 0u);
    EXPECT_EQ(c.tx_dropped, 0u);
    EXPECT_EQ(c.rx_foreign, 0u);
    EXPECT_EQ(c.buffers_in_use, 0u);
    EXPECT_GT(c.tx_packets, 1000u);
  }
}

TEST(DpdkRingTest, MemoryThatIsNotRegisteredIsCopiedAndCounted) {
  Pair pair = OpenPair(HostOptions(1), HostOptions(2));
  EXPECT_EQ(RunExchange(*pair.a, *pair.b, {.registered = false}), "");
  EXPECT_GT(pair.a->counters().tx_copied, 1000u);
  EXPECT_EQ(pair.a->counters().buffers_in_use, 0u);
}

TEST(DpdkRingTest, PayloadWithoutContentIsZerosAndNotCopied) {
  Pair pair = OpenPair(HostOptions(1), HostOptions(2));
  EXPECT_EQ(RunExchange(*pair.a, *pair.b, {.registered = false, .content = false}), "");
  EXPECT_EQ(pair.a->counters().tx_copied, 0u);
}

// A thread a side, as deployed.
TEST(DpdkRingTest, EachSideOnAThreadOfItsOwn) {
  Pair pair = OpenPair(HostOptions(1), HostOptions(2));
  const NetAddress server = pair.b->address();
  std::string problems[2];
  const auto run = [&](int i) {
    NicDevice& device = i == 0 ? *pair.a : *pair.b;
    device.EnterThread();
    Side side(device, {.client = i == 0});
    while (side.Turn(i == 0 ? &server : nullptr)) {
    }
    problems[i] = side.problem();
    device.LeaveThread();
  };
  std::thread other(run, 1);
  run(0);
  other.join();
  EXPECT_EQ(problems[0], "");
  EXPECT_EQ(problems[1], "");
  EXPECT_EQ(pair.a->counters().tx_copied, 0u);
}

TEST(DpdkRingTest, AFrameSaysForHowLongThePortWasNotPolled) {
  Pair pair = OpenPair(HostOptions(1), HostOptions(2));
  NicPort& from = pair.a->queue(0);
  NicPort& to = pair.b->queue(0);
  const FrameWriter writer(pair.a->address(), pair.b->address(), 0);
  const auto arrive = [&] {
    Frame frame;
    EXPECT_EQ(from.TxFrames({&frame, 1}), 1u);
    frame.size = writer.Write(ControlHeader{.type = PacketType::kProbe}, 0, frame.data);
    from.TxBurst({&frame, 1});
    Frame received;
    EXPECT_EQ(to.RxBurst({&received, 1}), 1u);
    to.Release({&received, 1});
    return received;
  };
  const Frame first = arrive();
  while (to.Now() - first.rx_time < Millis(2)) {
  }
  const Frame second = arrive();
  EXPECT_GE(second.rx_gap, Millis(2));
  EXPECT_EQ(second.rx_time - second.rx_gap, first.rx_time);
}

TEST(DpdkRingTest, IPv6FindsItsNeighboursByDiscovery) {
  Pair pair = OpenPair(HostOptions(1, true), HostOptions(2, true));
  EXPECT_EQ(RunExchange(*pair.a, *pair.b), "");
}

}  // namespace
}  // namespace weir
