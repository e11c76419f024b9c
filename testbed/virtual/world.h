// The world in virtual time: a fabric, hosts with endpoints, and one clock that jumps from event to
// event. One seed decides everything; the digest of the trace says whether two runs were the same.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "datapath/endpoint.h"
#include "testbed/fabric/fabric.h"
#include "testbed/fabric/fault_player.h"
#include "testbed/fabric/paths.h"
#include "testbed/virtual/sim_port.h"

namespace weir {

struct WorldConfig {
  uint64_t seed = 1;
  SwitchConfig switches{};
  bool v6 = false;
  uint32_t packets_max = 1u << 20;  // in the fabric at once
  uint32_t tx_pages_max = 1u << 20;
  uint32_t timers = 16;  // for the user of the world
};

class World final : public FaultTarget {
 public:
  World(const Topology& topology, const WorldConfig& config);

  // Gives a host an endpoint. `config`'s address, line rate and seed are filled in here.
  Endpoint& AddHost(uint32_t host, EndpointConfig config);
  bool HasHost(uint32_t host) const { return hosts_[host] != nullptr; }
  Endpoint& endpoint(uint32_t host) { return *hosts_[host]->endpoint; }
  const Endpoint& endpoint(uint32_t host) const { return *hosts_[host]->endpoint; }
  NetAddress AddressOf(uint32_t host) const { return HostAddress(host, config_.v6); }

  // Hears of every completion of every host. May post and connect.
  void OnCompletion(std::function<void(uint32_t host, const Completion&)> fn) {
    on_completion_ = std::move(fn);
  }
  // Hears of each timer that was set and is due.
  void OnTimer(std::function<void(uint32_t timer)> fn) { on_timer_ = std::move(fn); }
  void SetTimer(uint32_t timer, Time at) override { wheel_.Arm(first_user_timer_ + timer, at); }

  // After posting to an endpoint from outside of a callback.
  void Kick(uint32_t host) { wheel_.Arm(first_host_timer_ + host, now_); }
  // Sees the packets of all hosts from now on, hosts that are added later, too. Outlives the world.
  void SetTap(PacketTap* tap);

  // The host's poll loop stands still until then; no later call shortens it.
  void Stall(uint32_t host, Time until) override;

  Time now() const override { return now_; }
  // Handles the next event if it is due by `until`. False: there is none.
  bool Step(Time until);
  void RunUntil(Time until);
  void RunFor(Duration d) { RunUntil(now_ + d); }

  Fabric& fabric() override { return fabric_; }
  const Fabric& fabric() const { return fabric_; }
  uint64_t events() const { return events_; }
  uint64_t digest() const { return Mix64(fabric_.digest() ^ static_cast<uint64_t>(events_)); }
  const WorldConfig& config() const { return config_; }
  // Sum over all endpoints.
  Counters TotalCounters() const;
  // The first law of conservation that is broken, in words; empty if none is.
  std::string CheckConservation();
  // Nothing on its way and nothing held: what must be true when all has ended.
  std::string CheckQuiet();

  Duration BaseRtt(uint32_t from, uint32_t to, Bytes size, Bytes ack) const {
    return weir::BaseRtt(fabric_.topology(), fabric_.routes(), from, to, size, ack);
  }

 private:
  struct Host {
    Host(Fabric& fabric, PacketPool& packets, uint32_t index, const PortCaps& caps)
        : port(fabric, packets, index, caps) {}
    SimPort port;
    std::unique_ptr<Endpoint> endpoint;
    Time stalled_until{};
  };

  void Deliver(Time now, uint32_t host, PacketId packet);
  void Poll(uint32_t host);

  WorldConfig config_;
  PacketPool packets_;
  Pool<TxPage> pages_;
  uint32_t first_host_timer_;
  uint32_t first_user_timer_;
  TimerWheel wheel_;
  Time now_{};
  Fabric fabric_;
  std::vector<Rate> host_rates_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::function<void(uint32_t, const Completion&)> on_completion_;
  std::function<void(uint32_t)> on_timer_;
  PacketTap* tap_ = nullptr;
  uint64_t events_ = 0;
};

}  // namespace weir
