// The kernel's UDP sockets as devices, on the loopback interface: needs no right and no network.
#ifdef WEIR_HAS_UDP

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "datapath/wire.h"
#include "nic_drivers/registry.h"
#include "nic_drivers/udp/name.h"
#include "testbed/nic/exchange.h"
#include "testbed/nic/local_host.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

DeviceOptions Options(const std::string& address, const std::string& device = "udp:lo") {
  DeviceOptions options;
  options.device = device;
  options.address = address;
  return options;
}

std::unique_ptr<NicDevice> Open(const DeviceOptions& options) {
  auto device = OpenDevice(options);
  EXPECT_TRUE(device.ok()) << device.status();
  return device.ok() ? *std::move(device) : nullptr;
}

TEST(UdpNameTest, OptionsStandBehindTheInterface) {
  const auto name = ParseUdpName("udp:eth0,paths=4");
  ASSERT_TRUE(name.ok());
  EXPECT_EQ(name->interface, "eth0");
  EXPECT_EQ(name->paths, 4u);
}

TEST(UdpNameTest, WhatIsWrongIsNamedWithTheForm) {
  for (const auto& [text, words] : {std::pair{"udp:", "names no interface"},
                                    {"udp:lo,paths=0", "paths is a number from 1 to 256"},
                                    {"udp:lo,port=2", "no option \"port\""}}) {
    const auto name = ParseUdpName(text);
    ASSERT_FALSE(name.ok()) << text;
    EXPECT_THAT(Message(name.status()), HasSubstr(words));
    EXPECT_THAT(Message(name.status()), HasSubstr("the form is udp:<interface>"));
  }
}

TEST(UdpDeviceTest, WhatHasNoEffectIsRefusedWithWhereToSetIt) {
  DeviceOptions vlan = Options("127.0.0.1/8");
  vlan.vlan = 7;
  EXPECT_THAT(Message(OpenDevice(vlan).status()), HasSubstr("ip link add link lo"));
  DeviceOptions gateway = Options("127.0.0.1/8");
  gateway.gateway = "127.0.0.9";
  EXPECT_THAT(Message(OpenDevice(gateway).status()), HasSubstr("ip route"));
  DeviceOptions offloads = Options("127.0.0.1/8");
  offloads.offloads = false;
  EXPECT_THAT(Message(OpenDevice(offloads).status()), HasSubstr("ethtool"));
  EXPECT_THAT(Message(OpenDevice(Options("192.0.2.7/24")).status()),
              HasSubstr("ip addr add 192.0.2.7/24 dev lo"));
  EXPECT_THAT(Message(OpenDevice(Options("", "udp:nosuch0")).status()),
              HasSubstr("there is no network interface nosuch0; there are: lo"));
}

TEST(UdpDeviceTest, ASecondProcessOfTheSameAddressIsToldWhy) {
  const auto first = Open(Options("127.0.0.3/8"));
  EXPECT_THAT(Message(OpenDevice(Options("127.0.0.3/8")).status()),
              HasSubstr("another process of this address has it"));
}

TEST(UdpDeviceTest, EveryByteArrivesWithSeveralQueuesAndAlgorithms) {
  DeviceOptions a = Options("127.0.0.4/8"), b = Options("127.0.0.5/8");
  a.queues = b.queues = 2;
  LocalHost a_host, b_host;
  a_host.Take(Open(a));
  b_host.Take(Open(b));
  ASSERT_TRUE(a_host.open() && b_host.open());
  ExchangeOptions options;
  options.plugins = {{"dcqcn", "ecmp"}, {"nscc", "oblivious"}};
  const ExchangeResult result = RunExchange(a_host, b_host, options);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(a_host.Look().counters.buffers_in_use + b_host.Look().counters.buffers_in_use, 0u);
}

// The wire's class and ECN bits are in headers that the kernel writes and reads.
TEST(UdpPortTest, ClassMarksAndAddressesGoThroughTheKernel) {
  const auto a = Open(Options("127.0.0.6/8")), b = Open(Options("127.0.0.7/8"));
  ASSERT_TRUE(a != nullptr && b != nullptr);
  NetAddress to = b->address();
  ASSERT_TRUE(a->Resolve(to).ok());
  std::array<Frame, 1> out{};
  ASSERT_EQ(a->queue(0).TxFrames(out), 1u);
  const FrameWriter writer(a->address(), to, 0);
  DataHeader header{.payload = 1000, .to = WireId::Of(1, 0, 5), .length = 1000};
  out[0].size = writer.Write(header, 3, false, out[0].data);
  out[0].payload_size = 1000;  // whose content does not matter
  out[0].path = 3;
  MarkFrame({out[0].data, out[0].size});
  a->queue(0).TxBurst(out);
  std::array<Frame, 1> in{};
  while (b->queue(0).RxBurst(in) == 0) {
  }
  EXPECT_EQ(in[0].size + in[0].payload_size, out[0].size + out[0].payload_size);
  FrameInfo info;
  ASSERT_EQ(ReadFrame({in[0].data, in[0].size}, info), WireError::kNone);
  EXPECT_TRUE(info.marked);
  EXPECT_EQ(info.from.ip, a->address().ip);
  EXPECT_EQ(info.type, PacketType::kData);
  DataHeader read;
  ASSERT_EQ(Read(info.packet, read), WireError::kNone);
  EXPECT_EQ(read.payload, 1000);
  b->queue(0).Release(in);
}

}  // namespace
}  // namespace weir

#endif  // WEIR_HAS_UDP
