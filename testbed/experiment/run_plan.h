// What a run is made of, worked out before anything runs: traffic, round trips, depths of queues,
// and what each endpoint has to hold.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "datapath/api/rng.h"
#include "datapath/endpoint.h"
#include "testbed/experiment/breakdown.h"
#include "testbed/experiment/experiment.h"
#include "testbed/experiment/result.h"

namespace weir {

class RunPlan {
 public:
  // Both outlive the plan.
  RunPlan(const Experiment& experiment, const Arm& arm, uint64_t seed);

  const Experiment& experiment() const { return experiment_; }
  const Arm& arm() const { return arm_; }
  uint64_t seed() const { return seed_; }
  // Of everything but the traffic.
  uint64_t home_seed() const { return arm_.salt == 0 ? seed_ : seed_ ^ Mix64(arm_.salt); }
  const Traffic& traffic() const { return traffic_; }
  // The longest round trip between hosts that talk, from which all depths follow.
  Duration base_rtt() const { return base_rtt_; }
  Bytes bdp() const { return bdp_; }
  const SwitchConfig& switches() const { return switches_; }
  // Of a connection, by its number: of the arm or its rules, in the connection's class.
  const Binding& BindingFor(uint32_t connection) const;
  // How many connections each rule of the arm decides; the last: none of them.
  std::vector<RuleUse> RuleUses() const;
  // Of a full data packet with the most headers, FCS included.
  Bytes packet_wire() const;
  Rate host_rate() const { return host_rate_; }  // of the slowest host
  const std::vector<Rate>& host_rates() const { return host_rates_; }

  uint32_t hosts() const;  // that talk
  bool HostTalks(uint32_t host) const { return loads_[host].connections > 0; }
  EndpointConfig EndpointFor(uint32_t host) const;
  uint32_t tx_pages_max() const { return PagesFor(traffic_.connections.size()); }

  // For the breakdown of times; of connections of this plan, which outlives them.
  PathFacts path_facts() const;

  Duration IdealTransfer(const Transfer& transfer) const;
  Duration IdealMakespan() const;

 private:
  struct Load {
    uint32_t connections = 0;
    uint32_t transfers = 0;
  };

  void MeasureRoundTrips(const Routes& routes);
  SwitchConfig Switches() const;
  static uint32_t PagesFor(uint64_t connections);
  IdealInput Ideal() const;

  // What tells the bindings of an arm's connections apart.
  struct BindingKey {
    uint32_t rule = 0;
    bool urgent = false;
    uint8_t traffic_class = 0;
    auto operator<=>(const BindingKey&) const = default;
  };
  BindingKey KeyOf(uint32_t connection) const;
  void MakeBindings();

  const Experiment& experiment_;
  const Arm& arm_;
  uint64_t seed_;
  Traffic traffic_;
  std::vector<Rate> host_rates_{};
  Rate host_rate_{};
  std::map<std::pair<uint32_t, uint32_t>, Duration> round_trips_;
  Duration base_rtt_{};
  Bytes bdp_{};
  SwitchConfig switches_{};
  std::vector<Load> loads_;      // by host
  std::vector<uint32_t> rules_;  // by connection; see arm_rules.h
  std::map<BindingKey, Binding> bindings_;
};

}  // namespace weir
