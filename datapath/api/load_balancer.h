// The load-balancing contract: which path the next packet of a connection takes.
//
// A path is a number in [0, paths). A policy learns the fate of every packet by path. It says
// whether it reorders, so that loss detection can follow it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "datapath/api/params.h"
#include "datapath/api/rng.h"
#include "datapath/api/signals.h"
#include "datapath/api/units.h"

namespace weir {

// How often a policy lets a packet overtake an earlier one of its connection.
enum class Reordering : uint8_t {
  kNever,   // one path while anything is in flight, but after a failure
  kRarely,  // moves between paths at pauses
  kAlways,  // neighbouring packets take different paths
};

// What is known of a connection when its policy is built.
struct LbInfo {
  uint32_t paths = 1;   // >= 1, at most 65536
  Bytes mtu{};          // a full data packet on the wire, > 0
  Bytes bdp{};          // > 0
  Duration base_rtt{};  // > 0
  uint64_t seed = 0;
};

// The packet that needs a path.
struct TxContext {
  Time now{};
  Bytes size{};
  Bytes in_flight{};        // before this packet
  Bytes window{};           // of the algorithm
  bool retransmit = false;  // and then:
  PathId lost_on = 0;       // the path that lost it; meaningful only for a retransmission
};

// Chooses a path for every packet of one connection. One instance a connection, used by one thread,
// built in place in a fixed slot. Implementations read no clock and never allocate or block.
class LoadBalancer {
 public:
  virtual ~LoadBalancer() = default;
  virtual PathId PickPath(const TxContext& tx) = 0;  // below LbInfo::paths
  virtual void OnFeedback(const PathFeedback&) {}
  virtual std::span<const uint64_t> counters() const { return {}; }
};

// Room for the state of any policy, beside the connection.
inline constexpr size_t kLbSlotBytes = 384;

// A policy: what `weir list` shows and what a connection is built from.
struct LbEntry {
  const char* name;
  const char* summary;  // one line
  const char* source;
  Reordering reordering;
  Signals needs;
  std::span<const ParamSpec> params;
  std::span<const CounterSpec> counters;
  bool learns;  // overrides OnFeedback; a policy that does not is spared the calls
  size_t state_bytes;
  ConfigBlob (*defaults)();
  LoadBalancer* (*construct)(void* slot, const LbInfo&, const ConfigBlob&);
};

// Makes the registry line of policy T. T has `struct Config`, `kParams` and a constructor
// (LbInfo, Config) and, where it applies, `kCounters`.
template <class T>
constexpr LbEntry LbPlugin(const char* name, const char* summary, const char* source,
                           Reordering reordering, Signals needs = {}) {
  static_assert(sizeof(T) <= kLbSlotBytes && alignof(T) <= 64, "state must fit the slot");
  using Config = typename T::Config;
  std::span<const CounterSpec> counters;
  if constexpr (requires { T::kCounters; }) counters = T::kCounters;
  return {.name = name,
          .summary = summary,
          .source = source,
          .reordering = reordering,
          .needs = needs,
          .params = T::kParams,
          .counters = counters,
          .learns = !std::is_same_v<decltype(&T::OnFeedback), decltype(&LoadBalancer::OnFeedback)>,
          .state_bytes = sizeof(T),
          .defaults = [] { return ConfigBlob::Of(Config{}); },
          .construct = [](void* slot, const LbInfo& lb, const ConfigBlob& config) -> LoadBalancer* {
            return ::new (slot) T(lb, config.As<Config>());
          }};
}

// The fixed slot of a connection: builds a policy in place and destroys it.
class LbSlot {
 public:
  LbSlot() = default;
  LbSlot(const LbEntry& entry, const LbInfo& lb) { Emplace(entry, lb, entry.defaults()); }
  ~LbSlot() { Reset(); }
  LbSlot(const LbSlot&) = delete;
  LbSlot& operator=(const LbSlot&) = delete;

  void Emplace(const LbEntry& entry, const LbInfo& lb, const ConfigBlob& config) {
    Reset();
    lb_ = entry.construct(bytes_, lb, config);
  }
  void Reset() {
    if (lb_ != nullptr) lb_->~LoadBalancer();
    lb_ = nullptr;
  }
  LoadBalancer* operator->() const { return lb_; }
  LoadBalancer& operator*() const { return *lb_; }

 private:
  LoadBalancer* lb_ = nullptr;
  alignas(64) std::byte bytes_[kLbSlotBytes];
};

}  // namespace weir
