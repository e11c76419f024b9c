// Where a run takes place: what it needs of virtual time, the loopback testbed or real ports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "datapath/endpoint.h"
#include "testbed/experiment/real_time.h"
#include "testbed/experiment/samples.h"
#include "testbed/fabric/fabric.h"
#include "testbed/fabric/host_address.h"
#include "testbed/virtual/packet_tap.h"

namespace weir {

// Memory of a host that its peers may write to, as its region 0. Without `base` the content does
// not matter.
struct HostMemory {
  std::byte* base = nullptr;
  uint64_t size = 0;
};

// A network with hosts, in time. Used by one thread, which gets all callbacks, within Step.
class Home {
 public:
  virtual ~Home() = default;

  // Set-up: hosts, then Start. `config`'s address, line rate and seed are filled in here.
  virtual absl::Status AddHost(uint32_t host, const EndpointConfig& config, HostMemory memory) = 0;
  virtual absl::Status Start() = 0;
  // Heard within Step, in order. May post.
  std::function<void(uint32_t host, const Completion&)> on_completion;
  std::function<void()> on_timer;

  // `binding` outlives the home.
  virtual absl::StatusOr<WireId> Connect(uint32_t from, uint32_t to, const Binding& binding) = 0;
  virtual absl::Status PostWrite(uint32_t host, WireId id, const WriteRequest& request) = 0;
  // Of a host that has an endpoint of packets; in RDMA mode none has, and nothing happens.
  virtual void Look(uint32_t /*host*/, absl::FunctionRef<void(const Endpoint&)> /*look*/) {}
  // What an accepted connection is at the host that opened it; nothing if it has ended.
  struct Opener {
    uint32_t host = 0;
    WireId id{};
  };
  virtual std::optional<Opener> OpenerOf(uint32_t host, WireId id);
  virtual Bytes InFlight(uint32_t host, WireId id);
  virtual NetAddress AddressOf(uint32_t host) const = 0;
  // Of a host that there is.
  virtual uint32_t HostOf(const NetAddress& address) const { return weir::HostOf(address); }

  virtual Time now() const = 0;
  // The one timer: on_timer is due then. A later call moves it.
  virtual void SetTimer(Time at) = 0;
  // Goes on to the next thing that happens by `until`. False: nothing does.
  virtual bool Step(Time until) = 0;
  virtual void RunUntil(Time until) = 0;
  // The schedule counts from now and ends at `horizon` after it. Once.
  virtual void StartFaults(const std::vector<Fault>& faults, Duration horizon) = 0;

  // Sees all packets from now on; in virtual time only. Outlives the home.
  virtual void SetTap(PacketTap*) {}

  // nullptr: the network is real.
  virtual const Fabric* fabric() const = 0;
  virtual uint64_t events() const = 0;
  // Of the whole trace; nothing where runs do not repeat to the bit.
  virtual std::optional<uint64_t> digest() const = 0;
  // Packets that a host's port had no room for.
  virtual uint64_t missed() const = 0;
  // The first law of conservation that is broken, in words; empty if none is.
  virtual std::string CheckConservation() = 0;
  // How well the machine kept up since StartWatching; nothing in virtual time.
  virtual void StartWatching() {}
  virtual std::optional<RealTimeStats> real_time() const { return std::nullopt; }
  // Since StartWatching, where samples are taken.
  virtual std::optional<Samples> samples() const { return std::nullopt; }

  // Sum over all endpoints.
  virtual Counters TotalCounters();

 protected:
  // Hosts that have an endpoint.
  std::vector<uint32_t> hosts_;
};

}  // namespace weir
