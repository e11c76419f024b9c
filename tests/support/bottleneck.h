// A network under test: an endpoint on every host, connections that write so many bytes or without
// end, and what a switch output and every connection did over an interval.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cc_algos/registry.h"
#include "datapath/wire.h"
#include "gtest/gtest.h"
#include "lb_policies/registry.h"
#include "testbed/experiment/statistics.h"
#include "testbed/traffic/traffic.h"
#include "testbed/virtual/world.h"
#include "tests/support/agenda.h"

namespace weir {

inline constexpr uint16_t kPayload = 4096;
inline constexpr Bytes kMtu{kPayload + DataOverhead(false)};  // 4186 B on the wire
inline constexpr Bytes kAckWire{106};                         // one SACK word, IPv4, FCS
inline constexpr Bytes kEndless{kMessageMax};

// Of a path of `links` links, all at `rate`: what each must take for an empty round trip of `rtt`.
constexpr Duration DelayFor(Duration rtt, Rate rate, int links = 2) {
  return (rtt - (kMtu / rate + kAckWire / rate) * links) / (2 * links);
}

// An algorithm or policy by name, some of its parameters by name.
using Params = std::initializer_list<std::pair<const char*, double>>;
template <class Entry>
ConfigBlob ConfigOf(const Entry& entry, Params params) {
  ConfigBlob config = entry.defaults();
  for (const auto& [name, value] : params) {
    bool known = false;
    for (const ParamSpec& spec : entry.params) {
      if (std::string(spec.name) != name) continue;
      spec.set(config.data(), value);
      known = true;
    }
    if (!known) std::abort();
  }
  return config;
}
inline Binding Bind(const CcEntry& cc, Params cc_params = {}, const char* policy = "ecmp",
                    Params lb_params = {}) {
  const LbEntry* lb = FindLb(policy);
  return {.cc = &cc,
          .cc_config = ConfigOf(cc, cc_params),
          .lb = lb,
          .lb_config = ConfigOf(*lb, lb_params)};
}
inline Binding Bind(const char* algorithm, Params cc_params = {}, const char* policy = "ecmp",
                    Params lb_params = {}) {
  return Bind(*FindCc(algorithm), cc_params, policy, lb_params);
}
// An entry of the registry that asks for an acknowledgement of each packet, as the models do from
// which formulas come. Only for algorithms with no other receiver duty.
inline CcEntry AckEachPacket(const char* algorithm) {
  CcEntry entry = *FindCc(algorithm);
  entry.duty = [](const FlowInfo&, const ConfigBlob&) { return ReceiverDuty{.ack_every = {}}; };
  return entry;
}

// Keeps a measured value in the test's report (--gtest_output); returns it.
inline double Measured(const std::string& what, double value) {
  testing::Test::RecordProperty(what, std::to_string(value));
  return value;
}

// The smallest value with at least that share of all at or below it.
inline double Quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max(rank, 1.0) - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

inline LinkId LinkBetween(const Topology& topology, NodeId from, NodeId to) {
  for (LinkId id = 0; id < topology.links.size(); ++id) {
    if (topology.links[id].from == from && topology.links[id].to == to) return id;
  }
  std::abort();
}
// The last hop to a host.
inline LinkId LinkTo(const Topology& topology, uint32_t host) {
  for (LinkId id = 0; id < topology.links.size(); ++id) {
    if (topology.links[id].to == host) return id;
  }
  std::abort();
}

struct NetworkSpec {
  Topology topology{};
  Binding binding{};
  SwitchConfig switches{};
  EndpointConfig endpoint{};  // line rate filled in; base RTT too, if it is 0
  uint64_t seed = 1;
};

class Network {
 public:
  explicit Network(const NetworkSpec& spec)
      : binding_(spec.binding),
        world_(spec.topology, {.seed = spec.seed,
                               .switches = spec.switches,
                               .packets_max = 1 << 17,
                               .tx_pages_max = 1 << 14}),
        agenda_(world_) {
    EndpointConfig config = spec.endpoint;
    base_rtt_ = config.base_rtt > Duration(0) ? config.base_rtt : LongestRtt();
    config.base_rtt = base_rtt_;
    config.binding = &binding_;
    config.credit = binding_.cc->receiver_half;
    config.credit_config = binding_.cc_config;
    config.trimming = spec.switches.trimming;
    if (config.trimming) config.signals = config.signals | Signal::kTrimNotice;
    if (spec.switches.path_load) config.signals = config.signals | Signal::kPathLoad;
    if (spec.switches.telemetry) config.signals = config.signals | Signal::kTelemetry;
    config.tx_messages_max = config.rx_messages_max = 64;
    for (uint32_t h = 0; h < spec.topology.hosts; ++h) {
      // All may send to the last host.
      const bool last = h + 1 == spec.topology.hosts;
      config.connections_max = 16 + (last ? h : 0);
      config.completions_max = 4 * config.connections_max + 128;
      if (!world_.AddHost(h, config).RegisterRegion(nullptr, uint64_t{1} << 47).ok()) std::abort();
    }
    world_.OnCompletion([this](uint32_t host, const Completion& c) { OnCompletion(host, c); });
  }

  // Opens connections with the network's binding, or another; they send nothing yet.
  void Connect(const std::vector<TrafficConnection>& pairs, const Binding* binding = nullptr) {
    const Binding& with = binding == nullptr ? binding_ : *binding;
    for (const TrafficConnection& pair : pairs) {
      Flow flow{.from = pair.from, .to = pair.to};
      flow.id = *endpoint(pair.from).Connect(now(), world_.AddressOf(pair.to), with);
      by_id_[{flow.from, flow.id.value}] = flows();
      flows_.push_back(flow);
      world_.Kick(flow.from);
    }
    while (opened_ < flows() && world_.Step(now() + Millis(50))) {
    }
    if (opened_ < flows()) std::abort();
    RunFor(2 * base_rtt_);
  }
  // The first hosts each to the last one.
  void ConnectIncast(uint32_t senders) {
    std::vector<TrafficConnection> pairs;
    for (uint32_t h = 0; h < senders; ++h) pairs.push_back({h, topology().hosts - 1});
    Connect(pairs);
  }
  void Write(uint32_t flow, Bytes size = kEndless) {
    const auto length = static_cast<uint32_t>(size.count());
    if (!endpoint(flows_[flow].from).PostWrite(now(), flows_[flow].id, {.length = length}).ok()) {
      std::abort();
    }
    ++posted_;
    world_.Kick(flows_[flow].from);
  }
  void WriteAll(Bytes size = kEndless) {
    for (uint32_t f = 0; f < flows(); ++f) Write(f, size);
  }
  // False: not all that was written is acknowledged by then.
  bool RunToEnd(Duration limit) {
    const Time end = now() + limit;
    while (finished_ < posted_ && world_.Step(end)) {
    }
    return finished_ == posted_;
  }
  void RunFor(Duration d) { world_.RunFor(d); }
  void At(Time at, std::function<void()> action) { agenda_.At(at, std::move(action)); }
  void Every(Duration period, const std::function<void()>& action) {
    At(now() + period, [this, period, action] {
      action();
      Every(period, action);
    });
  }
  void Add(const std::vector<Fault>& faults, Duration horizon) { agenda_.Add(faults, horizon); }

  // Begins an interval: the figures below count from here.
  void Mark() {
    marked_at_ = now();
    for (Flow& flow : flows_) flow.acked_before = AckedNow(flow);
    bytes_before_.clear();
    for (LinkId l = 0; l < topology().links.size(); ++l) {
      Settle(l);
      bytes_before_.push_back(world_.fabric().port(l).bytes_out);
    }
  }
  Bytes Acked(uint32_t flow) {
    const uint64_t bytes = AckedNow(flows_[flow]) - flows_[flow].acked_before;
    return Bytes(static_cast<int64_t>(bytes));
  }
  // Of every connection, in b/s on the wire.
  std::vector<double> Rates() {
    std::vector<double> rates;
    const double seconds = static_cast<double>((now() - marked_at_).count()) * 1e-9;
    for (uint32_t f = 0; f < flows(); ++f) {
      rates.push_back(static_cast<double>(Acked(f).count()) * 8 / seconds);
    }
    return rates;
  }
  double Jain() { return JainIndex(Rates()); }
  double Utilisation(LinkId link) {
    Settle(link);
    const uint64_t bytes = world_.fabric().port(link).bytes_out - bytes_before_[link];
    return Ratio(Bytes(static_cast<int64_t>(bytes)),
                 topology().links[link].rate * (now() - marked_at_));
  }

  // Waiting at an output, the packet in service not counted.
  Bytes Queue(LinkId link) {
    Settle(link);
    return world_.fabric().queued(link);
  }
  // Samples such a queue for as long as the world runs.
  void Watch(LinkId link, Duration period) {
    Every(period, [this, link] { queues_.push_back(static_cast<double>(Queue(link).count())); });
  }
  std::vector<double>& queues() { return queues_; }

  const Sender& sender(uint32_t flow) {
    return endpoint(flows_[flow].from).Find(flows_[flow].id)->sender;
  }
  WireId id(uint32_t flow) const { return flows_[flow].id; }  // at its sender
  Bytes window(uint32_t flow) { return sender(flow).allowance().window; }
  // When the last write of a flow was acknowledged in full.
  Time ended(uint32_t flow) const { return flows_[flow].ended; }
  uint32_t flows() const { return static_cast<uint32_t>(flows_.size()); }
  bool failed() const { return failed_; }
  Endpoint& endpoint(uint32_t host) { return world_.endpoint(host); }
  const Topology& topology() const { return world_.fabric().topology(); }
  const FabricStats& fabric() const { return world_.fabric().stats(); }
  Counters counters() const { return world_.TotalCounters(); }
  Duration base_rtt() const { return base_rtt_; }
  World& world() { return world_; }
  Time now() const { return world_.now(); }

 private:
  struct Flow {
    uint32_t from = 0;
    uint32_t to = 0;
    WireId id{};
    uint64_t acked_before = 0;
    Time ended = Time::Never();
  };

  Duration LongestRtt() const {
    Duration longest{};
    for (uint32_t a = 0; a < topology().hosts; ++a) {
      for (const uint32_t b : {uint32_t{0}, topology().hosts - 1}) {
        if (a != b) longest = std::max(longest, world_.BaseRtt(a, b, kMtu, kAckWire));
      }
    }
    return longest;
  }
  uint64_t AckedNow(const Flow& flow) {
    return endpoint(flow.from).Find(flow.id)->sender.stats().acked_bytes;
  }
  // Setting a link that is up to "up" only brings its queue up to now.
  void Settle(LinkId link) { world_.fabric().SetLink(now(), link, true); }

  void OnCompletion(uint32_t host, const Completion& c) {
    const auto it = by_id_.find({host, c.connection.value});
    if (it == by_id_.end()) return;
    if (c.event == Event::kOpened) ++opened_;
    if (c.event == Event::kFailed) failed_ = true;
    if (c.event != Event::kSent) return;
    ++finished_;
    flows_[it->second].ended = now();
  }

  Binding binding_;
  World world_;
  Agenda agenda_;
  Duration base_rtt_{};
  std::vector<Flow> flows_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> by_id_;
  uint32_t opened_ = 0;
  uint64_t posted_ = 0;
  uint64_t finished_ = 0;
  bool failed_ = false;
  Time marked_at_{};
  std::vector<uint64_t> bytes_before_;
  std::vector<double> queues_;  // of Watch
};

}  // namespace weir
