// Bitmap: every path once a pass, but a path with a penalty is passed over so many passes.
//
//   feedback:  penalty <- min(penalty + `mark` | `trim` | `loss`, 15)
//   to send:   the next path of the pass; while it has a penalty, the one after it; the first path
//              met with a penalty loses 1 of it
//
// Source: UecMpBitmap of uet-htsim, `uec_mp.cpp`; UEC 1.0 section 3.6 for the size of the pool.
// Departure: a lost packet counts like their time-out, because our time-out means that nothing
// came back by any path; trims at the last hop do not count.
// Departure: at most 16 paths are met for one packet, so that a choice has a bounded cost.
#pragma once

#include "datapath/api/load_balancer.h"
#include "lb_policies/oblivious.h"

namespace weir {

class Bitmap final : public LoadBalancer {
 public:
  static constexpr uint32_t kMaxPool = 256;
  static constexpr uint32_t kWorst = 15;  // four bits

  struct Config {
    int64_t pool = kMaxPool;
    int64_t mark = 1;
    int64_t trim = 4;
    int64_t loss = kWorst;
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::pool>("pool", 1, kMaxPool, "paths in use, if there are so many",
                           "UEC 1.0 section 3.6: 64 to 256"),
      Param<&Config::mark>("mark", 0, kWorst, "passes that a mark costs", "uet-htsim: 1"),
      Param<&Config::trim>("trim", 0, kWorst, "passes that a trim costs", "uet-htsim: 4"),
      Param<&Config::loss>("loss", 0, kWorst, "passes that a loss costs",
                           "uet-htsim: 15, of a time-out"),
  };
  static constexpr CounterSpec kCounters[] = {{"passed_over", "paths met with a penalty"}};

  Bitmap(const LbInfo& lb, const Config& config);

  PathId PickPath(const TxContext& tx) override;
  void OnFeedback(const PathFeedback& feedback) override;
  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  uint32_t Penalty(uint32_t index) const {
    return penalties_[index / 2] >> (index % 2 * 4) & kWorst;
  }
  void SetPenalty(uint32_t index, uint32_t penalty);
  uint32_t CostOf(PathEvent event) const;

  Oblivious order_;
  uint8_t mark_;
  uint8_t trim_;
  uint8_t loss_;
  uint8_t penalties_[kMaxPool / 2] = {};  // four bits a path of the pool
  uint64_t counters_[1] = {};
};

}  // namespace weir
