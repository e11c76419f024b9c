#include "testbed/nic/host_json.h"

#include <array>
#include <bit>

#include "cc_algos/registry.h"
#include "lb_policies/registry.h"
#include "nic_drivers/address_text.h"
#include "testbed/nic/json_fields.h"
#include "testbed/nic/probe.h"

namespace weir {
namespace {

using nlohmann::json;

constexpr uint32_t kPacketMax = 65'535;  // bytes
constexpr uint32_t kQueuesMax = 1024;
constexpr uint32_t kFramesMax = 1'000'000;  // of a trial
constexpr size_t kConnectionsMax = 64;      // of an exchange
constexpr uint32_t kMessageMost = 1 << 26;  // bytes
constexpr int64_t kHour = Seconds(3600).count();
constexpr size_t kAbilitiesMax = 256;

// Counters have nothing but uint64_t: a row of numbers.
using DeviceCounterRow = std::array<uint64_t, sizeof(DeviceCounters) / sizeof(uint64_t)>;
static_assert(sizeof(DeviceCounterRow) == sizeof(DeviceCounters));

absl::Status FactsFrom(const json& value, DeviceFacts& out) {
  JsonFields f("the device's facts", value);
  int64_t numa_node = -1;
  f.Read("driver", out.driver);
  f.Read("library", out.library);
  f.Read("firmware", out.firmware);
  f.Read("queues_max", out.queues_max);
  f.Read("mtu_max_bytes", out.mtu_max);
  f.Read("numa_node", -1, INT32_MAX, numa_node);
  out.numa_node = static_cast<int>(numa_node);
  out.abilities.clear();
  for (const json& item : f.ReadArray("abilities", kAbilitiesMax)) {
    JsonFields a("an ability", item);
    DeviceAbility ability;
    a.Read("name", ability.name);
    a.Read("offered", ability.offered);
    a.Read("used", ability.used);
    a.Read("without", ability.without);
    f.Update(a.status());
    out.abilities.push_back(std::move(ability));
  }
  return f.status();
}

}  // namespace

json ToJson(const HostFacts& facts) {
  return {{"system", facts.system}, {"version", facts.version}};
}

absl::Status FromJson(const json& value, HostFacts& out) {
  JsonFields f("the host", value);
  f.Read("system", out.system);
  f.Read("version", out.version);
  return f.status();
}

json ToJson(const NetAddress& address) {
  return {{"ip", IpText(address)}, {"mac", MacText(address.mac)}};
}

absl::Status FromJson(const json& value, NetAddress& out) {
  JsonFields f("an address", value);
  std::string ip, mac;
  f.Read("ip", ip);
  f.Read("mac", mac);
  if (!f.status().ok()) return f.status();
  const absl::StatusOr<NetAddress> parsed = ParseIp(ip);
  const absl::StatusOr<MacAddress> parsed_mac = ParseMac(mac);
  f.Update(parsed.status());
  f.Update(parsed_mac.status());
  if (!f.status().ok()) return f.status();
  out = *parsed;
  out.mac = *parsed_mac;
  return absl::OkStatus();
}

json ToJson(const DeviceOptions& o) {
  return {{"device", o.device},    {"address", o.address}, {"gateway", o.gateway},
          {"queues", o.queues},    {"mtu", o.mtu},         {"vlan", o.vlan},
          {"offloads", o.offloads}};
}

absl::Status FromJson(const json& value, DeviceOptions& out) {
  JsonFields f("options of a device", value);
  int64_t vlan = -1;
  f.Read("device", out.device);
  f.Read("address", out.address);
  f.Read("gateway", out.gateway);
  f.Read("queues", 1, kQueuesMax, out.queues);
  f.Read("mtu", 0, kPacketMax, out.mtu);
  f.Read("vlan", -1, 4094, vlan);
  f.Read("offloads", out.offloads);
  out.vlan = static_cast<int>(vlan);
  return f.status();
}

json ToJson(const DeviceView& view) {
  return {{"address", ToJson(view.address)},
          {"line_rate_bps", view.caps.line_rate.count()},
          {"mtu", view.caps.mtu},
          {"signals", view.caps.signals.bits()},
          {"facts", FactsJson(view.facts)},
          {"counters", std::bit_cast<DeviceCounterRow>(view.counters)},
          {"features", view.features},
          {"warnings", view.warnings}};
}

absl::Status FromJson(const json& value, DeviceView& out) {
  JsonFields f("a device", value);
  int64_t line_rate = 0;
  uint32_t signals = 0;
  DeviceCounterRow counters{};
  f.Read("line_rate_bps", 0, INT64_MAX, line_rate);
  // No shorter than IPv4 allows.
  f.Read("mtu", 68, kPacketMax, out.caps.mtu);
  f.Read("signals", signals);
  f.Read("counters", counters);
  f.Read("features", out.features);
  f.Read("warnings", out.warnings);
  const json address = f.ReadAny("address"), facts = f.ReadAny("facts");
  if (!f.status().ok()) return f.status();
  out.caps.line_rate = Rate(line_rate);
  out.caps.signals = Signals(signals);
  out.counters = std::bit_cast<DeviceCounters>(counters);
  f.Update(FromJson(address, out.address));
  f.Update(FactsFrom(facts, out.facts));
  return f.status();
}

json ToJson(const HostReport& r) {
  const HostProgress& p = r.progress;
  return {{"link_up", r.link_up},   {"gone", r.gone},       {"sent", p.sent},
          {"stuck", p.stuck},       {"arrived", p.arrived}, {"settled", p.settled},
          {"opened", p.opened},     {"closed", p.closed},   {"received", p.received},
          {"messages", p.messages}, {"drained", p.drained}, {"problem", p.problem}};
}

absl::Status FromJson(const json& value, HostReport& out) {
  JsonFields f("a report", value);
  HostProgress& p = out.progress;
  f.Read("link_up", out.link_up);
  f.Read("gone", out.gone);
  f.Read("sent", p.sent);
  f.Read("stuck", p.stuck);
  f.Read("arrived", p.arrived);
  f.Read("settled", p.settled);
  f.Read("opened", p.opened);
  f.Read("closed", p.closed);
  f.Read("received", p.received);
  f.Read("messages", p.messages);
  f.Read("drained", p.drained);
  f.Read("problem", p.problem);
  return f.status();
}

json ToJson(const FrameTrialOptions& o) {
  return {{"packet", o.packet}, {"count", o.count}, {"trial", o.trial}};
}

absl::Status FromJson(const json& value, FrameTrialOptions& out) {
  JsonFields f("a trial of frames", value);
  f.Read("packet", 1, kPacketMax, out.packet);
  f.Read("count", 1, kFramesMax, out.count);
  f.Read("trial", out.trial);
  return f.status();
}

json ToJson(const FrameTrialResult& r) {
  return {{"sent", r.sent},
          {"arrived", r.arrived},
          {"damaged", r.damaged},
          {"malformed", r.malformed},
          {"duplicates", r.duplicates},
          {"reordered", r.reordered},
          {"tx_dropped", r.tx_dropped},
          {"rx_missed", r.rx_missed},
          {"rx_errors", r.rx_errors},
          {"breach", r.breach}};
}

absl::Status FromJson(const json& value, FrameTrialResult& out) {
  JsonFields f("a result of frames", value);
  f.Read("sent", out.sent);
  f.Read("arrived", out.arrived);
  f.Read("damaged", out.damaged);
  f.Read("malformed", out.malformed);
  f.Read("duplicates", out.duplicates);
  f.Read("reordered", out.reordered);
  f.Read("tx_dropped", out.tx_dropped);
  f.Read("rx_missed", out.rx_missed);
  f.Read("rx_errors", out.rx_errors);
  f.Read("breach", out.breach);
  return f.status();
}

json ToJson(const ExchangeOptions& o) {
  json plugins = json::array();
  for (const PluginPair& p : o.plugins) plugins.push_back({{"cc", p.cc}, {"lb", p.lb}});
  return {{"plugins", plugins},
          {"registered", o.registered},
          {"content", o.content},
          {"large", o.large},
          {"open_timeout_ns", o.open_timeout.count()},
          {"patience_ns", o.patience.count()},
          {"retries_max", o.retries_max}};
}

absl::Status FromJson(const json& value, ExchangeOptions& out) {
  JsonFields f("an exchange", value);
  int64_t open_timeout = 0, patience = 0, retries = 0;
  f.Read("registered", out.registered);
  f.Read("content", out.content);
  f.Read("large", 0, kMessageMost, out.large);
  f.Read("open_timeout_ns", 1, kHour, open_timeout);
  f.Read("patience_ns", 1, kHour, patience);
  f.Read("retries_max", 0, 1000, retries);
  out.open_timeout = Duration(open_timeout);
  out.patience = Duration(patience);
  out.retries_max = static_cast<int>(retries);
  out.plugins.clear();
  for (const json& item : f.ReadArray("plugins", kConnectionsMax)) {
    JsonFields p("a connection", item);
    PluginPair pair;
    p.Read("cc", pair.cc);
    p.Read("lb", pair.lb);
    f.Update(p.status());
    if (FindCc(pair.cc.c_str()) == nullptr || FindLb(pair.lb.c_str()) == nullptr) {
      f.Fail("plugins", "names \"" + pair.cc + "\" over \"" + pair.lb + "\", not known here");
    }
    out.plugins.push_back(std::move(pair));
  }
  if (out.plugins.empty()) f.Fail("plugins", "is empty");
  return f.status();
}

json ToJson(const ExchangeReport& r) {
  return {{"bytes", r.bytes},
          {"counters", std::bit_cast<internal::CounterRow>(r.counters)},
          {"rtt_min_ns", r.rtt_min.count()},
          {"progress", r.progress}};
}

absl::Status FromJson(const json& value, ExchangeReport& out) {
  JsonFields f("a report of messages", value);
  internal::CounterRow counters{};
  int64_t rtt_min = 0;
  f.Read("bytes", out.bytes);
  f.Read("counters", counters);
  f.Read("rtt_min_ns", 0, INT64_MAX, rtt_min);
  f.Read("progress", out.progress);
  out.counters = std::bit_cast<Counters>(counters);
  out.rtt_min = Duration(rtt_min);
  return f.status();
}

json ToJson(const absl::Status& status) {
  return {{"code", status.raw_code()}, {"message", std::string(status.message())}};
}

absl::Status FromJson(const json& value, absl::Status& out) {
  JsonFields f("a status", value);
  uint32_t code = 0;
  std::string message;
  f.Read("code", 0, static_cast<uint32_t>(absl::StatusCode::kUnauthenticated), code);
  f.Read("message", message);
  if (f.status().ok()) out = absl::Status(static_cast<absl::StatusCode>(code), message);
  return f.status();
}

}  // namespace weir
