// Devices of this machine, and the network between them, as the home of an experiment's run.
#pragma once

#include <memory>
#include <vector>

#include "datapath/nic_device.h"
#include "testbed/experiment/home.h"
#include "testbed/live/live_hosts.h"

namespace weir {

struct PortsConfig {
  uint64_t seed = 1;
  double time_scale = 1;  // as the devices were opened with
  uint32_t host_threads = 1;
  bool idle_sleep = false;    // threads share cores
  std::vector<Rate> rates{};  // of hosts, on the experiment's clock
};

// Host i is device i. Nothing is known of the network but what hosts see.
class PortsHome final : public Home {
 public:
  PortsHome(std::vector<std::unique_ptr<NicDevice>> devices, const PortsConfig& config);
  ~PortsHome() override;

  absl::Status AddHost(uint32_t host, const EndpointConfig& config, HostMemory memory) override;
  absl::Status Start() override;

  absl::StatusOr<WireId> Connect(uint32_t from, uint32_t to, const Binding& binding) override;
  absl::Status PostWrite(uint32_t host, WireId id, const WriteRequest& request) override {
    return live_.PostWrite(host, id, request);
  }
  void Look(uint32_t host, absl::FunctionRef<void(const Endpoint&)> look) override {
    live_.Look(host, look);
  }
  NetAddress AddressOf(uint32_t host) const override { return devices_[host]->address(); }
  uint32_t HostOf(const NetAddress& address) const override;

  Time now() const override;
  void SetTimer(Time at) override { timer_ = at; }
  bool Step(Time until) override;
  void RunUntil(Time until) override;
  // CheckExperiment refuses experiments with faults here.
  void StartFaults(const std::vector<Fault>&, Duration) override {}

  const Fabric* fabric() const override { return nullptr; }
  uint64_t events() const override { return events_; }
  std::optional<uint64_t> digest() const override { return std::nullopt; }
  uint64_t missed() const override;
  std::string CheckConservation() override { return ""; }  // a real network keeps no books
  void StartWatching() override;
  std::optional<RealTimeStats> real_time() const override;

 private:
  PortsConfig config_;
  std::vector<std::unique_ptr<NicDevice>> devices_;
  LiveHosts live_;
  Time timer_ = Time::Never();
  uint64_t events_ = 0;
  Time watch_begin_{};
};

}  // namespace weir
