// RDMA devices of this machine in RDMA mode, and the network between them, as the home of an
// experiment's run. All hosts take turns on the one thread that runs the experiment.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "datapath/offload/chunk_endpoint.h"
#include "nic_drivers/chunk_device.h"
#include "testbed/experiment/home.h"
#include "testbed/nic/huge_memory.h"

namespace weir {

struct RdmaConfig {
  uint64_t seed = 1;
  double time_scale = 1;  // as the devices were opened with
  uint32_t chunk_bytes = 64 * 1024;
  uint64_t region = 1;        // bytes of a host that its peers write to: the largest message
  std::vector<Rate> rates{};  // of hosts, on the experiment's clock
};

// One device each, the last one first. Fails if one has no RDMA mode or is too slow.
absl::StatusOr<std::vector<std::unique_ptr<ChunkDevice>>> OpenRdmaPorts(
    std::span<const DeviceOptions> options, const RdmaConfig& config);

// Host i is device i. Messages are written over each other: their content does not matter.
class RdmaHome final : public Home {
 public:
  RdmaHome(std::vector<std::unique_ptr<ChunkDevice>> devices, const RdmaConfig& config);
  ~RdmaHome() override;

  absl::Status AddHost(uint32_t host, const EndpointConfig& config, HostMemory memory) override;
  absl::Status Start() override { return absl::OkStatus(); }

  // Waits until it is open on both sides, which tells whose connection was accepted.
  absl::StatusOr<WireId> Connect(uint32_t from, uint32_t to, const Binding& binding) override;
  absl::Status PostWrite(uint32_t host, WireId id, const WriteRequest& request) override;
  std::optional<Opener> OpenerOf(uint32_t host, WireId id) override;
  Bytes InFlight(uint32_t host, WireId id) override;
  NetAddress AddressOf(uint32_t host) const override { return devices_[host]->address(); }

  Time now() const override { return devices_.front()->port().Now(); }
  void SetTimer(Time at) override { timer_ = at; }
  bool Step(Time until) override;
  void RunUntil(Time until) override;
  // CheckExperiment refuses experiments with faults here.
  void StartFaults(const std::vector<Fault>&, Duration) override {}

  const Fabric* fabric() const override { return nullptr; }
  uint64_t events() const override { return events_; }
  std::optional<uint64_t> digest() const override { return std::nullopt; }
  uint64_t missed() const override { return 0; }
  std::string CheckConservation() override { return ""; }  // a real network keeps no books
  Counters TotalCounters() override;                       // of chunks instead of packets
  void StartWatching() override;
  std::optional<RealTimeStats> real_time() const override;

 private:
  struct Host {
    HugeMemory memory;
    std::unique_ptr<ChunkEndpoint> endpoint;
  };
  struct Heard {
    uint32_t host = 0;
    Completion completion{};
  };

  bool TurnAll();
  // A completion of `host` among those that were heard from number `from` on; nullptr: none.
  const Completion* FindHeard(uint32_t host, Event event, size_t from) const;

  RdmaConfig config_;
  std::vector<std::unique_ptr<ChunkDevice>> devices_;
  std::map<uint32_t, Host> by_index_;
  std::deque<Heard> heard_;  // not handed on yet
  std::map<std::pair<uint32_t, uint32_t>, Opener> openers_;
  Time timer_ = Time::Never();
  uint64_t events_ = 0;
  // Since StartWatching.
  Time watch_begin_{}, turned_{};
  Duration gap_max_{}, busy_{};
};

}  // namespace weir
