// PRR: a connection whose packets time out takes another path.
//
//   `timeouts` time-outs in a row:  draw a path
//
// With a part f of all paths dead, k draws leave a connection cut off with probability f^k; the
// k-th comes after RTO (2^k - 1).
//
// Source: Wetherall et al., SIGCOMM 2023; Linux net/ipv4/tcp_timer.c (a draw at each time-out).
// Departure: the receiver's part is not here: the core moves the path of the acknowledgements when
// the peer repeats itself.
#pragma once

#include "datapath/api/load_balancer.h"

namespace weir {

class Prr final : public LoadBalancer {
 public:
  static constexpr bool kOnePath = true;

  struct Config {
    int64_t timeouts = 1;
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::timeouts>("timeouts", 1, 100, "time-outs in a row until it moves",
                               "Linux tcp_timer.c: 1"),
  };
  static constexpr CounterSpec kCounters[] = {{"moves", "paths left"}};

  Prr(const LbInfo& lb, const Config& config);

  PathId PickPath(const TxContext&) override { return path_; }
  void OnFeedback(const PathFeedback& feedback) override;
  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  PathId AnyPath() { return static_cast<PathId>(rng_.Below(paths_)); }

  uint32_t paths_;
  int64_t patience_;
  Rng rng_;
  PathId path_;
  int64_t timeouts_ = 0;             // of this path, in a row
  Time timeout_at_ = Time::Never();  // the last one; it is told once a packet
  uint64_t counters_[1] = {};
};

}  // namespace weir
