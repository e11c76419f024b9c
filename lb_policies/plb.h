// PLB: leave a path that has been congested for several round trips, at a pause if there is one.
//
//   round:            one round trip of the connection
//   congested round:  marked / delivered >= `congested_share`; another sets the count to zero
//   count >= `idle_rounds` and nothing in flight, or count >= `rounds`:  draw a path, count <- 0
//   time-out:         draw a path; no draw for congestion for `suspend` (1 + uniform [0, 1))
//
// Source: Qureshi et al., SIGCOMM 2022; Linux net/ipv4/tcp_plb.c for the thresholds.
// Departure: a round lasts as long as the latest round-trip time, at least the base RTT, because
// feedback does not name rounds; only packets of the present path count.
// Departure: marks alone, not delay.
// Reorders: only when it moves after `rounds` with packets in flight.
#pragma once

#include "datapath/api/load_balancer.h"

namespace weir {

class Plb final : public LoadBalancer {
 public:
  static constexpr bool kOnePath = true;

  struct Config {
    double congested_share = 0.5;
    int64_t idle_rounds = 3;
    int64_t rounds = 12;
    Duration suspend = Seconds(60);
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::congested_share>("congested_share", 0, 1,
                                      "marked part of a round that makes it congested",
                                      "tcp_plb_cong_thresh: 128/256"),
      Param<&Config::idle_rounds>("idle_rounds", 1, 1000,
                                  "congested rounds after which a pause is used to move",
                                  "tcp_plb_idle_rehash_rounds: 3"),
      Param<&Config::rounds>("rounds", 1, 1000, "congested rounds after which it moves at once",
                             "tcp_plb_rehash_rounds: 12"),
      Param<&Config::suspend>("suspend", 0, 1e12, "no move for congestion after a time-out",
                              "tcp_plb_suspend_rto_sec: 60 s, and up to as much again"),
  };
  static constexpr CounterSpec kCounters[] = {
      {"idle_moves", "paths left for congestion, nothing in flight"},
      {"forced_moves", "paths left for congestion, packets in flight"},
      {"timeout_moves", "paths left after a time-out"},
  };

  Plb(const LbInfo& lb, const Config& config);

  PathId PickPath(const TxContext& tx) override;
  void OnFeedback(const PathFeedback& feedback) override;
  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  enum Counter { kIdle, kForced, kTimeout };

  void EndRound(Time now);
  void Move(Counter why);
  PathId AnyPath() { return static_cast<PathId>(rng_.Below(paths_)); }

  Config config_;
  uint32_t paths_;
  Duration base_rtt_;
  Rng rng_;
  PathId path_;

  Duration rtt_;           // latest; at least the base RTT
  Time round_end_{};       // of the present round
  int64_t delivered_ = 0;  // packets in the present round
  int64_t marked_ = 0;
  int64_t congested_ = 0;  // rounds in a row
  Time suspended_until_{};
  Time timeout_at_ = Time::Never();  // the last one; it is told once a packet
  uint64_t counters_[3] = {};
};

}  // namespace weir
