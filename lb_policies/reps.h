// REPS: send again on the paths whose packets came back unmarked.
//
//   on good feedback:  store the path at `head`, valid; if frozen longer than `freezing_timeout`,
//                      thaw and explore for `explore_packets`
//   on a time-out:     freeze, unless exploring
//   to send:           exploring, nothing stored, or nothing valid and not frozen: a random path
//                      something valid: the oldest valid path, which is then no longer valid
//                      frozen, nothing valid: the stored paths in turn
//
// A path that slows down returns fewer good packets and so gets fewer; a dead one returns none and
// is forgotten within one RTT, because while frozen only known paths are used.
//
// Source: Bonato et al., EuroSys 2026 (arXiv 2407.21625), algorithms 1 and 2; uet-htsim
// `uec_mp.cpp` for the freezing time and for trims at the last hop, which say nothing about a path.
// Departure: a trim or a loss is no failure; only a time-out freezes, as congestion trims too.
// Departure: no reuse of one path for several packets, because our feedback names every packet.
#pragma once

#include "datapath/api/load_balancer.h"
#include "lb_policies/path_ring.h"

namespace weir {

class Reps final : public LoadBalancer {
 public:
  static constexpr uint32_t kMaxBuffer = 64;

  struct Config {
    int64_t buffer = 8;
    Duration freezing_timeout = Millis(10);
    int64_t explore_packets = 0;
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::buffer>("buffer", 1, kMaxBuffer, "paths remembered", "arXiv 2407.21625: 8"),
      Param<&Config::freezing_timeout>("freezing_timeout", 0, 1e10,
                                       "time on known paths only after a failure; 0: none",
                                       "uet-htsim uec_mp.cpp: 10 ms"),
      Param<&Config::explore_packets>("explore_packets", 0, 1e6,
                                      "random paths at the start and after a freeze; 0: one BDP",
                                      "arXiv 2407.21625 algorithm 1: one BDP"),
  };
  static constexpr CounterSpec kCounters[] = {
      {"explored", "packets sent on a random path"},
      {"recycled", "packets sent on a path that had just been good"},
      {"reused", "packets sent on a path known from before a failure"},
      {"freezes", "failures noticed"},
  };

  Reps(const LbInfo& lb, const Config& config);

  PathId PickPath(const TxContext& tx) override;
  void OnFeedback(const PathFeedback& feedback) override;
  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  // From the connection and the configuration.
  uint32_t paths_;
  uint32_t explore_packets_;
  Duration freezing_timeout_;

  Rng rng_;
  PathRing<kMaxBuffer> ring_;
  uint32_t exploring_;  // packets left to send on random paths
  bool frozen_ = false;
  Time thaw_at_{};  // while frozen
  uint64_t counters_[4] = {};
};

}  // namespace weir
