// What the two hosts of a check tell each other: it comes back as it went, and what is wrong is
// named.
#include "testbed/nic/host_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testbed/nic/json_fields.h"

namespace weir {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Through text, as on the wire; equal if the JSON is, since every member is in it.
template <class T>
void ExpectRoundTrip(const T& value) {
  const json sent = ToJson(value);
  T read;
  const absl::Status status = FromJson(json::parse(sent.dump()), read);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(ToJson(read), sent);
}

// Without any one of its members it is refused, and the member is named.
template <class T>
void ExpectEachMemberIsNeeded(const T& value) {
  const json whole = ToJson(value);
  for (const auto& [name, member] : whole.items()) {
    for (const bool missing : {true, false}) {
      json broken = whole;
      if (missing) {
        broken.erase(name);
      } else {
        broken[name] = nullptr;  // of no type that anything has
      }
      T read;
      const absl::Status status = FromJson(broken, read);
      EXPECT_TRUE(absl::IsInvalidArgument(status)) << name;
    }
  }
  T read;
  EXPECT_FALSE(FromJson(json::array(), read).ok());
}

template <class T>
void ExpectSound(const T& value) {
  ExpectRoundTrip(value);
  ExpectEachMemberIsNeeded(value);
}

DeviceView SomeDevice() {
  DeviceView view;
  view.address = NetAddress::V4(0x0a000001, 0x020000000001);
  view.caps = {.line_rate = Gbps(25), .mtu = 1500, .signals = Signal::kRtt | Signal::kCredit};
  view.facts = {.driver = "net_x",
                .library = "DPDK",
                .firmware = "1",
                .queues_max = 4,
                .mtu_max = 9000,
                .numa_node = 1,
                .abilities = {{"flow rules", true, false, "a hash"}}};
  view.counters = {.rx_packets = 1, .tx_copied = 7, .buffers_in_use = UINT64_MAX};
  view.features = {"steering: flow rules"};
  view.warnings = {"NUMA"};
  return view;
}

TEST(HostJsonTest, EverythingComesBackAsItWent) {
  ExpectSound(HostFacts{"Linux", "1.2.3"});
  ExpectSound(NetAddress::V4(0x0a000001, 0x020000000001));
  ExpectSound(NetAddress::V6(0xfd00'0000'0000'0000, 1, 0x020000000001));
  DeviceOptions options;
  options.device = "udp:lo";
  options.address = "10.0.0.1/24";
  options.gateway = "10.0.0.2";
  options.queues = 3;
  options.mtu = 1400;
  options.vlan = 42;
  options.offloads = false;
  ExpectSound(options);
  ExpectSound(SomeDevice());
  HostReport report{.progress = {.sent = 1,
                                 .stuck = true,
                                 .arrived = 2,
                                 .settled = true,
                                 .opened = 3,
                                 .closed = 4,
                                 .received = 5,
                                 .messages = 6,
                                 .drained = true,
                                 .problem = "x"},
                    .link_up = true,
                    .gone = true};
  ExpectSound(report);
  ExpectSound(FrameTrialOptions{.packet = 100, .count = 5, .trial = 9});
  ExpectSound(FrameTrialResult{.sent = 1,
                               .arrived = 2,
                               .damaged = 3,
                               .malformed = 4,
                               .duplicates = 5,
                               .reordered = 6,
                               .tx_dropped = 7,
                               .rx_missed = 8,
                               .rx_errors = 9,
                               .breach = "b"});
  ExpectSound(ExchangeOptions{.plugins = {{"dctcp", "reps"}, {"swift", "ecmp"}},
                              .registered = false,
                              .content = false,
                              .large = 1000,
                              .open_timeout = Millis(1),
                              .patience = Millis(2),
                              .retries_max = 3});
  ExchangeReport exchange{.bytes = 1, .rtt_min = Micros(3), .progress = "half"};
  exchange.counters.tx_pages_short = 5;
  exchange.counters.data_packets_sent = 6;
  ExpectSound(exchange);
  ExpectSound(absl::NotFoundError("nothing"));
}

TEST(HostJsonTest, CountersKeepTheirPlaces) {
  DeviceView read;
  ASSERT_TRUE(FromJson(json::parse(ToJson(SomeDevice()).dump()), read).ok());
  EXPECT_EQ(read.counters.rx_packets, 1u);
  EXPECT_EQ(read.counters.tx_copied, 7u);
  EXPECT_EQ(read.counters.buffers_in_use, UINT64_MAX);
  ASSERT_EQ(read.facts.abilities.size(), 1u);
  EXPECT_EQ(read.facts.abilities[0].without, "a hash");
}

template <class T>
std::string Refusal(json value, const char* name, const json& member) {
  value[name] = member;
  T read;
  return std::string(FromJson(value, read).message());
}

TEST(HostJsonTest, NumbersOutOfRangeAreRefusedFromBothSides) {
  const json trial = ToJson(FrameTrialOptions{.packet = 100, .count = 5, .trial = 9});
  EXPECT_EQ(Refusal<FrameTrialOptions>(trial, "count", 1'000'000), "");
  EXPECT_THAT(Refusal<FrameTrialOptions>(trial, "count", 1'000'001),
              HasSubstr("\"count\" is no whole number from 1 to 1000000"));
  EXPECT_EQ(Refusal<FrameTrialOptions>(trial, "count", 1), "");
  EXPECT_THAT(Refusal<FrameTrialOptions>(trial, "count", 0), HasSubstr("\"count\""));
  EXPECT_THAT(Refusal<FrameTrialOptions>(trial, "trial", -1), HasSubstr("\"trial\""));
  EXPECT_THAT(Refusal<FrameTrialOptions>(trial, "trial", UINT64_MAX), HasSubstr("\"trial\""));
  EXPECT_THAT(Refusal<FrameTrialOptions>(trial, "trial", 1.5), HasSubstr("\"trial\""));
  const json exchange = ToJson(ExchangeOptions{.plugins = {{"dctcp", "reps"}}});
  EXPECT_EQ(Refusal<ExchangeOptions>(exchange, "large", 1 << 26), "");
  EXPECT_THAT(Refusal<ExchangeOptions>(exchange, "large", (1 << 26) + 1), HasSubstr("\"large\""));
  EXPECT_THAT(Refusal<ExchangeReport>(ToJson(ExchangeReport()), "counters", {1, 2}),
              HasSubstr("\"counters\" is no list of"));
}

TEST(HostJsonTest, PluginsThatAreNotKnownHereAreRefused) {
  const json exchange = ToJson(ExchangeOptions{.plugins = {{"dctcp", "reps"}}});
  EXPECT_THAT(Refusal<ExchangeOptions>(exchange, "plugins", {{{"cc", "x"}, {"lb", "reps"}}}),
              HasSubstr("names \"x\" over \"reps\", not known here"));
  EXPECT_THAT(Refusal<ExchangeOptions>(exchange, "plugins", json::array()),
              HasSubstr("\"plugins\" is empty"));
  const json many(65, json{{"cc", "dctcp"}, {"lb", "reps"}});
  EXPECT_THAT(Refusal<ExchangeOptions>(exchange, "plugins", many),
              HasSubstr("is no list of at most 64 items"));
}

TEST(HostJsonTest, AddressesAndStatusesThatAreNoneAreRefused) {
  const json address = ToJson(NetAddress::V4(1, 1));
  EXPECT_NE(Refusal<NetAddress>(address, "ip", "10.0.0"), "");
  EXPECT_NE(Refusal<NetAddress>(address, "mac", "02:00"), "");
  EXPECT_THAT(Refusal<absl::Status>(ToJson(absl::OkStatus()), "code", 17), HasSubstr("\"code\""));
}

TEST(JsonFieldsTest, TheFirstThatIsWrongIsNamedAndNothingIsReadFromThereOn) {
  const json object = {{"a", 1}, {"b", "text"}};
  JsonFields fields("the thing", object);
  uint32_t a = 0, b = 5, c = 6;
  fields.Read("a", a);
  fields.Read("b", b);
  fields.Read("c", c);
  EXPECT_EQ(a, 1u);
  EXPECT_EQ(b, 5u);
  EXPECT_EQ(c, 6u);
  EXPECT_THAT(std::string(fields.status().message()), HasSubstr("the thing: \"b\" is no whole"));
}

}  // namespace
}  // namespace weir
