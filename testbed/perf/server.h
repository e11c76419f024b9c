// The passive side of `weir perf`: answers whoever connects.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "nic_drivers/host/context.h"
#include "testbed/perf/protocol.h"

namespace weir {

class PerfServer {
 public:
  // `capacity`: longest message. `discard`: payload is counted and placed nowhere.
  static absl::StatusOr<std::unique_ptr<PerfServer>> Create(Context& context, uint64_t capacity,
                                                            bool discard);
  ~PerfServer();

  // Handles what has come; false if there was nothing.
  bool Step();
  // Clients so far, and what became of them, one line each since the last call.
  std::vector<std::string> TakeNews() { return std::exchange(news_, {}); }
  uint64_t clients() const { return clients_; }
  uint64_t ended() const { return ended_; }

 private:
  struct Peer {
    PerfHello hello{};
    PerfReady ready{};
    bool greeted = false;
  };

  PerfServer(Context& context, uint64_t capacity, bool discard);
  void Handle(const Completion& completion);
  void Greet(WireId id, Peer& peer);
  void PostReceive(WireId id, uint64_t length);
  // Tries until there is room; the context is polled by nobody else meanwhile.
  template <class Fn>
  void Insist(Fn post);

  Context& context_;
  const uint64_t capacity_;
  std::vector<std::byte> memory_;  // shared by all clients: only speed is measured
  uint32_t region_ = 0;
  std::unordered_map<uint32_t, std::unique_ptr<Peer>> peers_;
  std::vector<Completion> waiting_;  // polled while something was tried again
  std::vector<std::string> news_;
  uint64_t clients_ = 0;
  uint64_t ended_ = 0;
};

}  // namespace weir
