// Power of two choices: of two paths drawn at random, the one with the shorter round trip.
//
//   feedback:  excess <- round trip - shortest round trip seen;  a trim or a loss: the most there
//   is each `age`: every excess is halved, so that old news fades and a path is tried again to
//   send:   draw two paths that work; the one with less excess
//
// Source: Mitzenmacher, IEEE TPDS 12(10), 2001; UCCL's EFA transport, which keeps a round-trip time
// for each of 256 paths.
// Departure: news fades; there an old round-trip time stands until the path is used again.
// Departure: small differences do not count. They are as old as a round trip, and if all senders
// follow them, all go to the same link.
// Departure: paths that PathHealth has taken out are not drawn.
#pragma once

#include "datapath/api/load_balancer.h"
#include "lb_policies/path_run.h"

namespace weir {

class PowerOfTwo final : public LoadBalancer {
 public:
  static constexpr bool kUsesHealth = true;
  static constexpr uint32_t kMaxPool = 256;

  struct Config {
    int64_t pool = kMaxPool;
    Duration age{};
    Duration margin{};
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::pool>("pool", 1, kMaxPool, "paths in use, if there are so many", "UCCL: 256"),
      Param<&Config::age>("age", 0, 1e9, "what is known of a path counts half after it; 0: 4 RTTs",
                          "ours"),
      Param<&Config::margin>("margin", 0, 1e9,
                             "a smaller difference of two paths is none; 0: 3/4 of the base RTT",
                             "ours"),
  };

  PowerOfTwo(const LbInfo& lb, const Config& config);

  PathId PickPath(const TxContext& tx) override;
  void OnFeedback(const PathFeedback& feedback) override;

 private:
  static constexpr uint8_t kMost = 255;
  static constexpr int64_t kUnits = 32;  // of excess in one base RTT, so that it ends at 8 of them

  uint32_t Draw();                        // an index of the pool
  uint32_t Units(Duration excess) const;  // at most kMost
  uint32_t Cost(uint32_t index) const;
  void Age(Time now);

  Duration base_rtt_;
  Duration age_;
  uint32_t margin_;  // as excess_
  const PathHealth* health_;
  Rng rng_;
  PathRun pool_;
  Duration shortest_;
  Time aged_at_{};
  uint8_t excess_[kMaxPool] = {};  // by index; base RTT / kUnits
};

}  // namespace weir
