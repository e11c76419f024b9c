// What of the verbs driver needs no device. Devices: the guest's suite soft_roce.
#ifdef WEIR_HAS_VERBS

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cc_algos/registry.h"
#include "datapath/api/rng.h"
#include "nic_drivers/address_text.h"
#include "nic_drivers/buffer_pool.h"
#include "nic_drivers/registry.h"
#include "nic_drivers/verbs/causes.h"
#include "nic_drivers/verbs/driver.h"
#include "nic_drivers/verbs/gid_choice.h"
#include "nic_drivers/verbs/link_message.h"
#include "nic_drivers/verbs/name.h"
#include "nic_drivers/verbs/peer_message.h"
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

LinkMessage SomeLink() {
  LinkMessage m{.kind = LinkMessage::Kind::kAccept,
                .mtu = 5,
                .dscp = 46,
                .address = *ParseIp("10.9.1.1"),
                .nonce = 0x1234'5678'9ABC'DEF0};
  m.gid[15] = 9;
  m.pairs = {{.number = 17, .psn = 0xFFFFFF}, {.number = 0xFFFFFF, .psn = 3}};
  m.regions = {{.base = 0x7F00'0000'0000, .size = 4096, .key = 99}};
  return m;
}

TEST(LinkMessageTest, ArrivesAsItWasSent) {
  LinkMessage got;
  ASSERT_TRUE(Decode(Encode(SomeLink()), got));
  EXPECT_EQ(got.kind, LinkMessage::Kind::kAccept);
  EXPECT_EQ(got.mtu, 5);
  EXPECT_EQ(got.dscp, 46);
  EXPECT_EQ(got.address, SomeLink().address);
  EXPECT_EQ(got.gid, SomeLink().gid);
  EXPECT_EQ(got.nonce, SomeLink().nonce);
  EXPECT_EQ(got.pairs, SomeLink().pairs);
  EXPECT_EQ(got.regions, SomeLink().regions);
}

TEST(LinkMessageTest, WhatMakesNoSenseIsRefused) {
  LinkMessage got;
  std::vector<std::byte> whole = Encode(SomeLink());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(Decode(std::span(whole).first(size), got)) << size;
  }
  whole.push_back({});
  EXPECT_FALSE(Decode(whole, got));
  const auto refused = [&](auto&& change) {
    LinkMessage bad = SomeLink();
    change(bad);
    return !Decode(Encode(bad), got);
  };
  EXPECT_TRUE(refused([](LinkMessage& m) { m.mtu = 0; }));
  EXPECT_TRUE(refused([](LinkMessage& m) { m.mtu = 6; }));
  EXPECT_TRUE(refused([](LinkMessage& m) { m.dscp = 64; }));
  EXPECT_TRUE(refused([](LinkMessage& m) { m.pairs.clear(); }));
  EXPECT_TRUE(refused([](LinkMessage& m) { m.pairs.resize(kVerbsPathsMax + 1); }));
  EXPECT_TRUE(refused([](LinkMessage& m) { m.regions.resize(kLinkRegionsMax + 1); }));
  EXPECT_TRUE(refused([](LinkMessage& m) { m.pairs[0].number = 1 << 24; }));
  EXPECT_TRUE(refused([](LinkMessage& m) { m.pairs[1].psn = 1 << 24; }));
  EXPECT_TRUE(refused([](LinkMessage& m) { m.regions[0].base = UINT64_MAX - 4000; }));
  EXPECT_TRUE(refused([](LinkMessage& m) { m.kind = LinkMessage::Kind::kConfirm; }));
  EXPECT_FALSE(refused([](LinkMessage&) {}));
}

// Whatever comes, it is decoded within its bytes; what is taken can be sent again as it was.
TEST(LinkMessageTest, AnyBytesAreTakenOrRefusedWithoutHarm) {
  Rng rng(11);
  int taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> bytes = Encode(SomeLink());
    for (uint32_t k = rng.Below(4); k > 0; --k) {
      bytes[rng.Below(static_cast<uint32_t>(bytes.size()))] = static_cast<std::byte>(rng.Next());
    }
    bytes.resize(rng.Below(3) == 0 ? rng.Below(200) : bytes.size());
    LinkMessage got;
    if (!Decode(bytes, got)) continue;
    ++taken;
    LinkMessage again;
    ASSERT_TRUE(Decode(Encode(got), again));
    EXPECT_EQ(again.pairs, got.pairs);
  }
  EXPECT_GT(taken, 1000);
}

// Each is told from the other by its first bytes: they come to one UDP port.
TEST(LinkMessageTest, IsNoPeerMessageNorTheOtherWayRound) {
  LinkMessage link;
  PeerMessage peer;
  EXPECT_FALSE(Decode(Encode(SomePeer()), link));
  EXPECT_FALSE(Decode(Encode(SomeLink()), peer));
}

TEST(ChunkDeviceTest, KindsWithoutARdmaModeSaySo) {
  DeviceOptions options;
  options.device = "dpdk:net_null0";
  EXPECT_THAT(Message(OpenChunkDevice(options).status()), HasSubstr("have no RDMA mode"));
  options.device = "verbs:nosuch0";
  EXPECT_THAT(Message(OpenChunkDevice(options).status()),
              HasSubstr("RDMA device nosuch0 cannot be opened"));
  options.device = "nosuch:1";
  EXPECT_THAT(Message(OpenChunkDevice(options).status()), HasSubstr("names no driver"));
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
