// The loopback testbed as the home of an experiment's run: real time, real ports over rings, the
// real engine, and the same fabric model between them.
#pragma once

#include <vector>

#include "nic_drivers/dpdk/ring_pair.h"
#include "testbed/experiment/home.h"
#include "testbed/fabric/fault_player.h"
#include "testbed/live/live_hosts.h"
#include "testbed/loopback/carrier.h"

namespace weir {

struct LoopbackConfig {
  uint64_t seed = 1;
  SwitchConfig switches{};
  bool v6 = false;
  Bytes packet{};            // largest on the wire
  Bytes bdp{};               // what a host may have on its way is a multiple of this
  double time_scale = 1;     // > 0
  bool chosen_here = false;  // time_scale, by ChooseTimeScale
  uint32_t host_threads = 1;
};

// The thread that calls Step is the fabric's; it owns everything but the endpoints.
class LoopbackHome final : public Home {
 public:
  // `topology` is copied.
  LoopbackHome(const Topology& topology, const LoopbackConfig& config);
  ~LoopbackHome() override;

  absl::Status AddHost(uint32_t host, const EndpointConfig& config, HostMemory memory) override;
  absl::Status Start() override;

  absl::StatusOr<WireId> Connect(uint32_t from, uint32_t to, const Binding& binding) override {
    return live_.Connect(from, AddressOf(to), binding);
  }
  absl::Status PostWrite(uint32_t host, WireId id, const WriteRequest& request) override {
    return live_.PostWrite(host, id, request);
  }
  void Look(uint32_t host, absl::FunctionRef<void(const Endpoint&)> look) override {
    live_.Look(host, look);
  }
  NetAddress AddressOf(uint32_t host) const override;

  Time now() const override;
  void SetTimer(Time at) override { carrier_.SetTimer(kRunTimer, at); }
  bool Step(Time until) override;
  void RunUntil(Time until) override;
  void StartFaults(const std::vector<Fault>& faults, Duration horizon) override;

  const Fabric* fabric() const override { return &carrier_.fabric(); }
  uint64_t events() const override { return carrier_.events(); }
  std::optional<uint64_t> digest() const override { return std::nullopt; }
  uint64_t missed() const override;
  std::string CheckConservation() override;
  void StartWatching() override;
  std::optional<RealTimeStats> real_time() const override;

  // Nothing on its way, and no buffer held: what must be true when all connections are closed or
  // silent. The first thing that is not, in words.
  std::string CheckQuiet();
  void Close(uint32_t host, WireId id) { live_.Close(host, id); }

 private:
  static constexpr uint32_t kRunTimer = 0;
  static constexpr uint32_t kFaultTimer = 1;  // and the next

  void Drain();

  LoopbackConfig config_;
  Topology topology_;
  std::vector<Rate> host_rates_;
  std::vector<RingDevice> rings_;  // by host; empty: does not talk
  Carrier carrier_;                // before the far ends it drops frames to
  LiveHosts live_;
  std::optional<FaultPlayer> faults_;

  Time last_step_{};
  bool last_moved_ = false;
  Time watch_begin_{};
  Duration busy_{};  // of this thread, since then
};

}  // namespace weir
