// Flowlet switching: take a new path after a pause long enough that packets cannot overtake.
//
//   now - last packet > pause   draw a path
//
// Source: Sinha, Kandula, Katabi, HotNets 2004; Vanini et al., NSDI 2017 (LetFlow), for the random
// choice.
// Reorders: only when two paths differ by more than the pause.
// Departure: the pause is one base RTT, not 100 to 500 us, because it only has to exceed the
// difference between two paths of one fabric.
#pragma once

#include "datapath/api/load_balancer.h"

namespace weir {

class Flowlet final : public LoadBalancer {
 public:
  struct Config {
    Duration pause{};
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::pause>("pause", 0, 1e9, "a longer pause begins a flowlet; 0: one base RTT",
                            "ours; Vanini et al., NSDI 2017: 100 us and more"),
  };
  static constexpr CounterSpec kCounters[] = {{"flowlets", "flowlets begun, after the first"}};

  Flowlet(const LbInfo& lb, const Config& config);

  PathId PickPath(const TxContext& tx) override;
  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  PathId AnyPath() { return static_cast<PathId>(rng_.Below(paths_)); }

  uint32_t paths_;
  Duration pause_;
  Rng rng_;
  PathId path_;
  Time flowlet_until_ = Time::Never();  // a packet after it begins a flowlet
  uint64_t counters_[1] = {};
};

}  // namespace weir
