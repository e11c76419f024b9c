// Oblivious spraying: every path once a pass, each pass in a new random order.
//
//   path = rotate(counter) xor mask;  a new mask each pass
//
// Both steps permute [0, 2^bits), the smallest power of two that holds the pool; values beyond the
// pool are skipped.
//
// Source: UecMpOblivious of uet-htsim, `uec_mp.cpp`.
// Departure: any number of paths, not only powers of two. The counter's lowest bit is rotated to
// the top, so that of two values in a row at most one lies beyond the pool.
// Departure: the pool is a run of paths from a random one on, instead of random upper bits.
#pragma once

#include "datapath/api/load_balancer.h"
#include "lb_policies/path_run.h"

namespace weir {

class Oblivious final : public LoadBalancer {
 public:
  struct Config {
    int64_t pool = 0;
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::pool>("pool", 0, 65536, "paths in use; 0: all",
                           "UEC 1.0 section 3.6 suggests 64 to 256; ours: all"),
  };

  Oblivious(const LbInfo& lb, const Config& config);

  PathId PickPath(const TxContext& tx) override;

  const PathRun& pool() const { return pool_; }

 private:
  uint32_t Next();  // in [0, 2^bits)

  Rng rng_;
  PathRun pool_;
  uint32_t top_bit_;  // 2^(bits - 1); 0 for a pool of one path
  uint32_t counter_ = 0;
  uint32_t mask_;
};

}  // namespace weir
