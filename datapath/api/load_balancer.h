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
#include "datapath/api/path_health.h"
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
  const PathHealth* health = &kAllPathsGood;  // of the destination; for policies that use it
};

// The packet that needs a path.
struct TxContext {
  Time now{};
  Bytes size{};
  Bytes in_flight{};        // before this packet
  Bytes window{};           // of the algorithm
  uint32_t message = 0;     // counts the connection's messages; wraps
  Bytes message_size{};     // payload
  Bytes offset{};           // of this packet's payload in it
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
  Reordering reordering;  // at most
  Signals needs;
  std::span<const ParamSpec> params;
  std::span<const CounterSpec> counters;
  bool learns;       // overrides OnFeedback; a policy that does not is spared the calls
  bool uses_health;  // asks LbInfo::health, which is then kept up to date
  size_t state_bytes;
  Reordering (*reorders)(const ConfigBlob&, Reordering most);
  ConfigBlob (*defaults)();
  LoadBalancer* (*construct)(void* slot, const LbInfo&, const ConfigBlob&);
};

// How often a policy with these parameters reorders.
inline Reordering ReorderingOf(const LbEntry& entry, const ConfigBlob& config) {
  return entry.reorders(config, entry.reordering);
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
