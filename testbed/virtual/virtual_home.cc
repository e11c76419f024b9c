#include "testbed/virtual/virtual_home.h"

namespace weir {

VirtualHome::VirtualHome(const Topology& topology, const WorldConfig& config)
    : world_(topology, config) {
  world_.OnCompletion([this](uint32_t host, const Completion& c) { on_completion(host, c); });
  world_.OnTimer([this](uint32_t timer) {
    if (timer == kRunTimer) return on_timer();
    faults_->OnTimer(timer);
  });
}

absl::Status VirtualHome::AddHost(uint32_t host, const EndpointConfig& config, HostMemory memory) {
  hosts_.push_back(host);
  return world_.AddHost(host, config).RegisterRegion(memory.base, memory.size).status();
}

absl::StatusOr<WireId> VirtualHome::Connect(uint32_t from, uint32_t to, const Binding& binding) {
  const absl::StatusOr<WireId> id =
      world_.endpoint(from).Connect(world_.now(), world_.AddressOf(to), binding);
  if (id.ok()) world_.Kick(from);
  return id;
}

absl::Status VirtualHome::PostWrite(uint32_t host, WireId id, const WriteRequest& request) {
  const absl::Status status = world_.endpoint(host).PostWrite(world_.now(), id, request);
  world_.Kick(host);
  return status;
}

void VirtualHome::StartFaults(const std::vector<Fault>& faults, Duration horizon) {
  faults_.emplace(world_, faults, kFaultTimer);
  faults_->Start(world_.now(), horizon);
}

}  // namespace weir
