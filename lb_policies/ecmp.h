// ECMP: one path for the whole connection, drawn at random.
//
// Source: RFC 2992. With n connections on m links the fullest link holds more than n/m of them; see
// docs/policies.md.
// Departure: with `redraw_on_timeout` a connection whose packets time out draws a new path, as
// Wetherall et al., SIGCOMM 2023 (PRR) do on a retransmission time-out. Off by default.
#pragma once

#include "datapath/api/load_balancer.h"

namespace weir {

class Ecmp final : public LoadBalancer {
 public:
  static constexpr bool kOnePath = true;

  struct Config {
    bool redraw_on_timeout = false;
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::redraw_on_timeout>("redraw_on_timeout", 0, 1,
                                        "draw a new path when the current one times out",
                                        "RFC 2992: off"),
  };
  static constexpr CounterSpec kCounters[] = {{"redraws", "paths left after a time-out"}};

  Ecmp(const LbInfo& lb, const Config& config);

  PathId PickPath(const TxContext&) override { return path_; }
  void OnFeedback(const PathFeedback& feedback) override;
  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  PathId AnyPath() { return static_cast<PathId>(rng_.Below(paths_)); }

  uint32_t paths_;
  bool redraw_on_timeout_;
  Rng rng_;
  PathId path_;
  uint64_t counters_[1] = {};
};

}  // namespace weir
