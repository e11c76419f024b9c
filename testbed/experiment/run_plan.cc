#include "testbed/experiment/run_plan.h"

#include <algorithm>
#include <memory>
#include <tuple>

#include "testbed/experiment/arm_rules.h"
#include "testbed/fabric/paths.h"

namespace weir {
namespace {

// Bytes of an acknowledgement with one SACK word, FCS included, IPv4.
constexpr Bytes kAckWire{42 + 44 + 16 + 4};
constexpr int64_t kQueuesOnPath = 3;
constexpr uint64_t kPagesMax = 1u << 20;

}  // namespace

RunPlan::RunPlan(const Experiment& experiment, const Arm& arm, uint64_t seed)
    : experiment_(experiment),
      arm_(arm),
      seed_(seed),
      traffic_(*MakeTraffic(experiment, seed)),
      loads_(std::max(traffic_.hosts, experiment.fabric.topology.hosts)) {
  const Routes routes(experiment_.fabric.topology);
  rules_ = MatchRules(arm_, traffic_, routes);
  MakeBindings();
  MeasureRoundTrips(routes);
  switches_ = Switches();
  for (const TrafficConnection& c : traffic_.connections) {
    ++loads_[c.from].connections;
    ++loads_[c.to].connections;
  }
  for (const Transfer& t : traffic_.transfers) {
    const TrafficConnection& c = traffic_.connections[t.connection];
    ++loads_[c.from].transfers;
    ++loads_[c.to].transfers;
  }
}

void RunPlan::MeasureRoundTrips(const Routes& routes) {
  const Topology& topology = experiment_.fabric.topology;
  host_rates_ = HostRates(topology);
  host_rate_ = *std::ranges::min_element(host_rates_);
  for (const TrafficConnection& c : traffic_.connections) {
    const Duration rtt = BaseRtt(topology, routes, c.from, c.to, packet_wire(), kAckWire);
    round_trips_[{c.from, c.to}] = rtt;
    base_rtt_ = std::max(base_rtt_, rtt);
  }
  bdp_ = host_rate_ * base_rtt_;
}

Bytes RunPlan::packet_wire() const {
  const auto overhead = [this](const Binding& b) {
    return DataOverhead(experiment_.transport.v6, InBandFor(b.cc->needs));
  };
  auto most = overhead(arm_.binding);
  for (const ArmRule& rule : arm_.rules) most = std::max(most, overhead(rule.binding));
  return Bytes(experiment_.transport.payload + most);
}

const Binding& RunPlan::BindingFor(uint32_t connection) const {
  return bindings_.at(KeyOf(connection));
}

// Rules are for data only.
RunPlan::BindingKey RunPlan::KeyOf(uint32_t connection) const {
  const TrafficConnection& c = traffic_.connections[connection];
  if (c.urgent) return {.rule = kNoRule, .urgent = true};
  return {.rule = rules_[connection], .traffic_class = c.traffic_class};
}

void RunPlan::MakeBindings() {
  for (uint32_t i = 0; i < traffic_.connections.size(); ++i) {
    const BindingKey key = KeyOf(i);
    const auto [at, added] = bindings_.try_emplace(key);
    if (!added) continue;
    at->second = key.rule == kNoRule ? arm_.binding : arm_.rules[key.rule].binding;
    at->second.urgent = key.urgent;
    at->second.traffic_class = key.traffic_class;
  }
}

std::vector<RuleUse> RunPlan::RuleUses() const {
  std::vector<RuleUse> uses;
  if (arm_.rules.empty()) return uses;
  for (const ArmRule& rule : arm_.rules) uses.push_back({.rule = rule.name});
  uses.push_back({.rule = "no rule"});
  for (size_t i = 0; i < rules_.size(); ++i) {
    if (traffic_.connections[i].urgent) continue;
    ++uses[std::min<size_t>(rules_[i], arm_.rules.size())].connections;
  }
  return uses;
}

SwitchConfig RunPlan::Switches() const {
  const FabricSpec& spec = experiment_.fabric;
  SwitchConfig s = spec.switches;
  s.queue_limit = spec.queue_limit.Of(bdp_);
  s.control_limit = spec.control_limit.Of(bdp_);
  s.buffer = spec.buffer.Of(bdp_);
  s.pfc_xoff = spec.pfc_xoff.Of(bdp_);
  if (spec.marking) {
    s.mark_min = spec.mark_min.Of(bdp_);
    s.mark_max = std::max(s.mark_min, spec.mark_max.Of(bdp_));
  }
  const bool credit = arm_.binding.cc->receiver_half != nullptr;
  s.mark_last_hop = spec.mark_last_hop == FabricSpec::LastHop::kAuto
                        ? !credit
                        : spec.mark_last_hop == FabricSpec::LastHop::kOn;
  if (s.load_period == Duration(0)) s.load_period = base_rtt_;
  if (s.pfc && s.buffer > Bytes(0)) s.queue_limit = Bytes(0);
  return s;
}

uint32_t RunPlan::hosts() const {
  return static_cast<uint32_t>(std::count_if(
      loads_.begin(), loads_.end(), [](const Load& load) { return load.connections > 0; }));
}

uint32_t RunPlan::PagesFor(uint64_t connections) {
  return static_cast<uint32_t>(std::min(connections * TxWindow::kPages + 1, kPagesMax));
}

EndpointConfig RunPlan::EndpointFor(uint32_t host) const {
  const TransportSpec& t = experiment_.transport;
  const Load& load = loads_[host];
  EndpointConfig c;
  c.binding = &arm_.binding;
  c.credit = arm_.binding.cc->receiver_half;
  c.credit_config = arm_.binding.cc_config;
  c.base_rtt = base_rtt_;
  // Each switch on the way may hold a full queue.
  const Bytes depth = switches_.queue_limit > Bytes(0) ? switches_.queue_limit : switches_.buffer;
  c.max_queue = depth > Bytes(0) ? kQueuesOnPath * (depth / host_rate_) : Duration(0);
  c.trimming = switches_.trimming;
  c.signals = SignalsOf(experiment_);
  c.payload_max = t.payload;
  c.reorder_window = t.reorder_window;
  c.rto_min = t.rto_min;
  c.ack_delay = t.ack_delay;
  c.retries_max = t.retries_max;
  c.connections_max = load.connections;
  c.tx_messages_max = load.transfers + 1;
  c.rx_messages_max = load.transfers + 1;
  c.completions_max = 2 * load.transfers + 2 * load.connections + 8;
  c.regions_max = 1;
  c.tx_pages_max = PagesFor(load.connections);
  return c;
}

IdealInput RunPlan::Ideal() const {
  return {
      .mtu_payload = Bytes(experiment_.transport.payload),
      .overhead = packet_wire() - Bytes(experiment_.transport.payload),
      .rate = [](const void* self,
                 uint32_t host) { return static_cast<const RunPlan*>(self)->host_rates_[host]; },
      .round_trip =
          [](const void* self, uint32_t from, uint32_t to) {
            return static_cast<const RunPlan*>(self)->round_trips_.at({from, to});
          },
      .context = this};
}

// Half of the way of nothing there and back is propagation; the rest is the packet's.
PathFacts RunPlan::path_facts() const {
  struct Ways {
    explicit Ways(const Topology& t) : topology(t), routes(t) {}
    const Topology& topology;
    Routes routes;
    std::map<std::tuple<uint32_t, uint32_t, Bytes>, Duration> known;
  };
  const auto ways = std::make_shared<Ways>(experiment_.fabric.topology);
  return {.passage =
              [ways](uint32_t from, uint32_t to, Bytes wire) {
                const auto [at, added] = ways->known.try_emplace({from, to, wire});
                if (added) {
                  const auto rtt = [&](Bytes size) {
                    return BaseRtt(ways->topology, ways->routes, from, to, size, Bytes(0));
                  };
                  at->second = rtt(wire) - rtt(Bytes(0)) / 2;
                }
                return at->second;
              },
          .rate = [this](uint32_t host) { return host_rates_[host]; },
          .credit =
              [this](uint32_t connection) {
                return BindingFor(connection).cc->receiver_half != nullptr;
              }};
}

Duration RunPlan::IdealTransfer(const Transfer& transfer) const {
  return weir::IdealTransfer(Ideal(), traffic_, transfer);
}

Duration RunPlan::IdealMakespan() const { return weir::IdealMakespan(Ideal(), traffic_); }

}  // namespace weir
