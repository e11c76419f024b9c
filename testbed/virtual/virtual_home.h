// Virtual time as the home of an experiment's run.
#pragma once

#include <optional>
#include <vector>

#include "testbed/experiment/home.h"
#include "testbed/fabric/fault_player.h"
#include "testbed/virtual/world.h"

namespace weir {

class VirtualHome final : public Home {
 public:
  VirtualHome(const Topology& topology, const WorldConfig& config);

  absl::Status AddHost(uint32_t host, const EndpointConfig& config, HostMemory memory) override;
  absl::Status Start() override { return absl::OkStatus(); }

  absl::StatusOr<WireId> Connect(uint32_t from, uint32_t to, const Binding& binding) override;
  absl::Status PostWrite(uint32_t host, WireId id, const WriteRequest& request) override;
  void Look(uint32_t host, absl::FunctionRef<void(const Endpoint&)> look) override {
    look(world_.endpoint(host));
  }
  NetAddress AddressOf(uint32_t host) const override { return world_.AddressOf(host); }

  Time now() const override { return world_.now(); }
  void SetTimer(Time at) override { world_.SetTimer(kRunTimer, at); }
  bool Step(Time until) override { return world_.Step(until); }
  void RunUntil(Time until) override { world_.RunUntil(until); }
  void SetTap(PacketTap* tap) override { world_.SetTap(tap); }
  void StartFaults(const std::vector<Fault>& faults, Duration horizon) override;

  const Fabric* fabric() const override { return &world_.fabric(); }
  uint64_t events() const override { return world_.events(); }
  std::optional<uint64_t> digest() const override { return world_.digest(); }
  uint64_t missed() const override { return 0; }
  std::string CheckConservation() override { return world_.CheckConservation(); }

 private:
  static constexpr uint32_t kRunTimer = 0;
  static constexpr uint32_t kFaultTimer = 1;  // and the next

  World world_;
  std::optional<FaultPlayer> faults_;
};

}  // namespace weir
