// Hosts in real time: endpoints on ports that the engine's threads poll, as the one thread sees
// them that runs an experiment.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "nic_drivers/host/engine.h"
#include "testbed/experiment/home.h"
#include "testbed/live/watched_port.h"

namespace weir {

class LiveHosts {
 public:
  // Numbers of hosts are below `hosts`.
  explicit LiveHosts(uint32_t hosts) : by_index_(hosts) {}

  // Before Start. `port` outlives this; what peers write goes to `memory`, as region 0.
  absl::Status Add(uint32_t host, NicPort& port, const EndpointConfig& config,
                   const HostMemory& memory);
  // `config.ring` is filled in. Hosts take its threads in turn.
  absl::Status Start(EngineConfig config);
  void Stop();

  // --- The application's side ---
  absl::StatusOr<WireId> Connect(uint32_t from, const NetAddress& to, const Binding& binding);
  absl::Status PostWrite(uint32_t host, WireId id, const WriteRequest& request);
  void Close(uint32_t host, WireId id);
  // Hands on what has come. False: nothing has.
  bool Poll(absl::FunctionRef<void(uint32_t host, const Completion&)> heard);

  // --- Looking in ---
  std::span<const uint32_t> indices() const { return indices_; }  // of hosts, as they were added
  const WatchedPort& port(uint32_t host) const { return by_index_[host]->port; }
  void StandStill(uint32_t host, Time until);  // a host that there is not does not
  void Look(uint32_t host, absl::FunctionRef<void(const Endpoint&)> look);

  // Counts from here: the longest time between two polls, and the share of polls of the busiest
  // thread that moved something, by time.
  void StartWatching();
  Duration longest_gap() const;
  double busy() const;

 private:
  struct Host {
    explicit Host(NicPort& p) : port(p) {}
    WatchedPort port;
    std::unique_ptr<Endpoint> endpoint{};  // until Start
    Channel* channel = nullptr;
  };
  // Of a thread: cycles in polls that moved something, and in all.
  struct Spent {
    uint64_t busy = 0;
    uint64_t all = 0;
  };
  Spent SpentBy(uint32_t thread) const;

  std::vector<std::unique_ptr<Host>> by_index_;  // nullptr: does not talk
  std::vector<uint32_t> indices_;
  uint32_t completions_max_ = 0;
  std::vector<Spent> spent_before_;  // by thread
  std::unique_ptr<Engine> engine_;   // the last, so that its threads end first
};

}  // namespace weir
