// What of the verbs driver needs no device. Devices: the guest's suite soft_roce.
#ifdef WEIR_HAS_VERBS

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cc_algos/registry.h"
#include "nic_drivers/address_text.h"
#include "nic_drivers/registry.h"
#include "nic_drivers/verbs/causes.h"
#include "nic_drivers/verbs/driver.h"
#include "nic_drivers/verbs/gid_choice.h"
#include "nic_drivers/verbs/name.h"
#include "nic_drivers/verbs/peer_message.h"
#include "nic_drivers/buffer_pool.h"
#include "testbed/nic/probe.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST(VerbsNameTest, OptionsStandBehindTheDevice) {
  const auto name = ParseVerbsName("verbs:mlx5_0,port=2,gid=3,paths=16");
  ASSERT_TRUE(name.ok());
  EXPECT_EQ(name->device, "mlx5_0");
  EXPECT_EQ(name->port, 2);
  EXPECT_EQ(name->gid, 3);
  EXPECT_EQ(name->paths, 16u);
}

TEST(VerbsNameTest, WhatIsWrongIsNamedWithTheForm) {
  for (const auto& [text, words] : {std::pair{"verbs:", "names no RDMA device"},
                                    {"verbs:rxe0,port=0", "port is a number from 1 to 255"},
                                    {"verbs:rxe0,gid=x", "gid is an index"},
                                    {"verbs:rxe0,paths=65", "paths is a number from 1 to 64"},
                                    {"verbs:rxe0,path=2", "no option \"path\""}}) {
    const auto name = ParseVerbsName(text);
    ASSERT_FALSE(name.ok()) << text;
    EXPECT_THAT(Message(name.status()), HasSubstr(words));
    EXPECT_THAT(Message(name.status()), HasSubstr("the form is verbs:<device>"));
  }
}

GidEntry Gid(uint32_t index, GidKind kind, const char* ip) {
  const NetAddress address = *ParseIp(ip);
  GidEntry gid{.index = index, .kind = kind, .gid = address.ip};
  if (!address.v6) gid.gid[10] = gid.gid[11] = 0xFF;
  return gid;
}

const GidEntry kTable[] = {
    Gid(0, GidKind::kRoceV2, "fe80::1"),
    Gid(1, GidKind::kRoceV1, "10.0.0.1"),
    Gid(2, GidKind::kRoceV2, "fd00::1"),
    Gid(3, GidKind::kRoceV2, "10.0.0.1"),
};

TEST(GidChoiceTest, AnAddressIsFoundAmongTheRoceV2Gids) {
  const NetAddress v4 = *ParseIp("10.0.0.1"), v6 = *ParseIp("fd00::1");
  EXPECT_EQ(ChooseGid("d", kTable, -1, &v4)->index, 3u);
  EXPECT_EQ(ChooseGid("d", kTable, -1, &v6)->index, 2u);
}

TEST(GidChoiceTest, WithoutAnAddressIpv4GoesFirstAndLinkLocalNever) {
  EXPECT_EQ(ChooseGid("d", kTable, -1, nullptr)->index, 3u);
  EXPECT_EQ(ChooseGid("d", std::span(kTable).first(3), -1, nullptr)->index, 2u);
  EXPECT_FALSE(ChooseGid("d", std::span(kTable).first(2), -1, nullptr).ok());
}

TEST(GidChoiceTest, AnIndexMustAgreeWithTheAddress) {
  const NetAddress v4 = *ParseIp("10.0.0.1");
  EXPECT_EQ(ChooseGid("d", kTable, 2, nullptr)->index, 2u);
  EXPECT_FALSE(ChooseGid("d", kTable, 2, &v4).ok());
}

TEST(GidChoiceTest, WhereThereIsNoneTheGidsAndTheRemedyAreNamed) {
  const NetAddress other = *ParseIp("10.0.0.9");
  const auto gid = ChooseGid("rxe7", kTable, -1, &other);
  ASSERT_FALSE(gid.ok());
  EXPECT_THAT(Message(gid.status()), HasSubstr("RDMA device rxe7 has no RoCE v2 GID"));
  EXPECT_THAT(Message(gid.status()), HasSubstr("1: RoCE v1, 10.0.0.1"));
  EXPECT_THAT(Message(gid.status()), HasSubstr("ip addr add 10.0.0.9/24"));
}

TEST(VerbsCausesTest, CompletionsAndEventsAreNamedInWords) {
  EXPECT_THAT(CompletionCause(5), HasSubstr("flushed"));          // IBV_WC_WR_FLUSH_ERR
  EXPECT_THAT(CompletionCause(12), HasSubstr("did not answer"));  // IBV_WC_RETRY_EXC_ERR
  EXPECT_THAT(CompletionCause(9999), HasSubstr("ibv_wc_status 9999"));
  EXPECT_THAT(EventCause(10), HasSubstr("the port is down"));  // IBV_EVENT_PORT_ERR
  EXPECT_THAT(EventCause(8), HasSubstr("removed"));            // IBV_EVENT_DEVICE_FATAL
  EXPECT_TRUE(EventEndsDevice(8));
  EXPECT_FALSE(EventEndsDevice(10));
}

TEST(BufferPoolTest, BuffersStandOnLinesOfTheirOwnAndAreFoundByTheirAddress) {
  auto pool = BufferPool::Create(3, 100);
  ASSERT_TRUE(pool.ok());
  EXPECT_EQ(pool->bytes(), 3u * 128);
  EXPECT_EQ(pool->at(2) - pool->at(0), 2 * 128);
  EXPECT_EQ(pool->IndexOf(pool->at(1) + 127), 1u);
  const uint32_t first = pool->Take(), second = pool->Take(), third = pool->Take();
  EXPECT_EQ(first + second + third, 3u);
  EXPECT_EQ(pool->free(), 0u);
  pool->Give(second);
  EXPECT_EQ(pool->Take(), second);
}

PeerMessage SomePeer() {
  PeerMessage m{.question = true, .address = *ParseIp("10.9.1.1"), .key = 77, .queues = 2};
  m.address.mac = {2, 0x57, 10, 9, 1, 1};
  m.gid[15] = 9;
  m.pairs = {17, 18, 19, 0xFFFFFF};
  return m;
}

TEST(PeerMessageTest, ArrivesAsItWasSent) {
  PeerMessage got;
  ASSERT_TRUE(Decode(Encode(SomePeer()), got));
  EXPECT_TRUE(got.question);
  EXPECT_EQ(got.address, SomePeer().address);
  EXPECT_EQ(got.gid, SomePeer().gid);
  EXPECT_EQ(got.key, 77u);
  EXPECT_EQ(got.queues, 2u);
  EXPECT_EQ(got.pairs, SomePeer().pairs);
}

TEST(PeerMessageTest, WhatMakesNoSenseIsRefused) {
  PeerMessage got;
  const std::vector<std::byte> whole = Encode(SomePeer());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(Decode(std::span(whole).first(size), got)) << size;
  }
  PeerMessage bad = SomePeer();
  bad.queues = 3;  // four queue pairs are not shared out evenly
  EXPECT_FALSE(Decode(Encode(bad), got));
  bad = SomePeer();
  bad.pairs[0] = 1 << 24;
  EXPECT_FALSE(Decode(Encode(bad), got));
}

TEST(VerbsDeviceTest, OneThatIsNotThereIsNamedWithThoseThatAre) {
  DeviceOptions options;
  options.device = "verbs:nosuch0";
  const auto device = OpenDevice(options);
  ASSERT_FALSE(device.ok());
  EXPECT_THAT(Message(device.status()), HasSubstr("RDMA device nosuch0 cannot be opened"));
  EXPECT_THAT(Message(device.status()), HasSubstr("there are:"));
}

TEST(VerbsDeviceTest, OptionsOfTheKernelsAreRefusedWithWhereToSetThem) {
  DeviceOptions options;
  options.device = "verbs:rxe0";
  options.vlan = 7;
  EXPECT_THAT(Message(OpenDevice(options).status()), HasSubstr("type vlan id 7"));
  options.vlan = -1;
  options.gateway = "10.0.0.254";
  EXPECT_THAT(Message(OpenDevice(options).status()), HasSubstr("ip route"));
}

TEST(VerbsDeviceTest, AlgorithmsThatNeedMarksAreRefusedByName) {
  for (const PluginFit& fit : PluginsOver(kVerbsSignals)) {
    if (fit.name != "dctcp") continue;
    EXPECT_EQ(fit.state, PluginFit::State::kCannot);
    EXPECT_THAT(fit.missing, HasSubstr("mark"));
    return;
  }
  FAIL() << "dctcp is not listed";
}

}  // namespace
}  // namespace weir

#endif  // WEIR_HAS_VERBS
