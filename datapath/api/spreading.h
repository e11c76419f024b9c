// What stays together on one path: an option of every load-balancing policy.
//
//   packet    the policy chooses for each packet
//   flowlet   .. for the first packet after a pause longer than `unit_gap`
//   message   .. for the first packet of each message
//   split     .. for each `unit_split` bytes of a message
//
// A packet that is sent again is a unit of its own, and a time-out on the present path ends a unit.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <type_traits>

#include "datapath/api/load_balancer.h"

namespace weir {

enum class SpreadUnit : uint8_t { kPacket, kFlowlet, kMessage, kSplit };

struct SpreadConfig {
  SpreadUnit unit = SpreadUnit::kPacket;
  Duration unit_gap{};
  Bytes unit_split = KiB(64);
};
inline constexpr ParamSpec kSpreadParams[] = {
    ChoiceParam<&SpreadConfig::unit>("unit", "packet|flowlet|message|split",
                                     "what stays together on one path", "ours"),
    Param<&SpreadConfig::unit_gap>("unit_gap", 0, 1e9,
                                   "a longer pause ends a flowlet; 0: one base RTT",
                                   "ours; Vanini et al., NSDI 2017: 100 us and more"),
    Param<&SpreadConfig::unit_split>("unit_split", 64, 1e9, "bytes of a message in one unit",
                                     "ours"),
};

// Policy T, asked once a unit.
template <class T>
class Spread final : public LoadBalancer {
 public:
  struct Config {
    SpreadConfig spread;
    typename T::Config own;
  };
  static constexpr auto kParams = [] {
    constexpr auto spread = MovedParams<&Config::spread, std::size(kSpreadParams), kSpreadParams>();
    constexpr auto own = MovedParams<&Config::own, std::size(T::kParams), T::kParams>();
    std::array<ParamSpec, spread.size() + own.size()> all{};
    for (size_t i = 0; i < own.size(); ++i) all[i] = own[i];
    for (size_t i = 0; i < spread.size(); ++i) all[own.size() + i] = spread[i];
    return all;
  }();

  Spread(const LbInfo& lb, const Config& config)
      : unit_(config.spread.unit),
        gap_(config.spread.unit_gap > Duration(0) ? config.spread.unit_gap : lb.base_rtt),
        split_(config.spread.unit_split),
        policy_(lb, config.own) {}

  PathId PickPath(const TxContext& tx) override {
    if (unit_ == SpreadUnit::kPacket || tx.retransmit) return policy_.PickPath(tx);
    if (!Continues(tx)) path_ = policy_.PickPath(tx);
    return path_;
  }
  void OnFeedback(const PathFeedback& feedback) override {
    if (feedback.event == PathEvent::kTimeout && feedback.path == path_) begun_ = false;
    policy_.OnFeedback(feedback);
  }
  std::span<const uint64_t> counters() const override { return policy_.counters(); }

 private:
  // Whether the packet belongs to the present unit; if not, it begins the next.
  bool Continues(const TxContext& tx) {
    const bool begun = begun_;
    begun_ = true;
    if (unit_ == SpreadUnit::kFlowlet) {
      const bool pause = tx.now > until_;
      until_ = tx.now + gap_;
      return begun && !pause;
    }
    const int64_t piece = unit_ == SpreadUnit::kSplit ? tx.offset / split_ : 0;
    const bool same = tx.message == message_ && piece == piece_;
    message_ = tx.message;
    piece_ = piece;
    return begun && same;
  }

  SpreadUnit unit_;
  bool begun_ = false;
  PathId path_ = 0;
  uint32_t message_ = 0;
  int64_t piece_ = 0;
  Duration gap_;
  Bytes split_;
  Time until_ = Time::Never();  // a packet after it begins a flowlet
  T policy_;
};

namespace internal {
// A policy that keeps to one path has no units, and another may have its own.
template <class T>
constexpr bool kNoUnits = [] {
  if constexpr (requires { T::kOnePath; }) return T::kOnePath;
  if constexpr (requires { T::kOwnUnits; }) return T::kOwnUnits;
  return false;
}();
template <class T>
using Spreading = typename std::conditional_t<kNoUnits<T>, std::type_identity<T>,
                                              std::type_identity<Spread<T>>>::type;

template <class T>
constexpr Reordering Reorders(const ConfigBlob& blob, Reordering most) {
  if constexpr (kNoUnits<T>) {
    if constexpr (requires { T::Reorders(blob.As<typename T::Config>()); }) {
      most = T::Reorders(blob.As<typename T::Config>());
    }
    return most;
  } else {
    const auto& config = blob.As<typename Spread<T>::Config>();
    if constexpr (requires { T::Reorders(config.own); }) most = T::Reorders(config.own);
    const bool together = config.spread.unit != SpreadUnit::kPacket;
    return together && most == Reordering::kAlways ? Reordering::kRarely : most;
  }
}
}  // namespace internal

// Makes the registry line of policy T. T has `struct Config`, `kParams` and a constructor
// (LbInfo, Config) and, where it applies, `kCounters`, `kOnePath` (it never leaves the path of a
// connection but after trouble), `kOwnUnits` (it decides itself what stays together), `kUsesHealth`
// (it asks LbInfo::health) and a static `Reorders(Config)`, if that depends on its parameters.
template <class T>
constexpr LbEntry LbPlugin(const char* name, const char* summary, const char* source,
                           Reordering reordering, Signals needs = {}) {
  using Policy = internal::Spreading<T>;
  using Config = typename Policy::Config;
  static_assert(sizeof(Policy) <= kLbSlotBytes && alignof(T) <= 64, "state must fit the slot");
  std::span<const CounterSpec> counters;
  if constexpr (requires { T::kCounters; }) counters = T::kCounters;
  bool uses_health = false;
  if constexpr (requires { T::kUsesHealth; }) uses_health = T::kUsesHealth;
  return {.name = name,
          .summary = summary,
          .source = source,
          .reordering = reordering,
          .needs = needs,
          .params = Policy::kParams,
          .counters = counters,
          .learns = !std::is_same_v<decltype(&T::OnFeedback), decltype(&LoadBalancer::OnFeedback)>,
          .uses_health = uses_health,
          .state_bytes = sizeof(Policy),
          .reorders = internal::Reorders<T>,
          .defaults = [] { return ConfigBlob::Of(Config{}); },
          .construct = [](void* slot, const LbInfo& lb, const ConfigBlob& config) -> LoadBalancer* {
            return ::new (slot) Policy(lb, config.As<Config>());
          }};
}

}  // namespace weir
