// Round robin: every path of a pool in turn, in an order of the connection's own.
//
//   path(k) = start + (k stride mod pool),  gcd(stride, pool) = 1
//
// so that each pass of `pool` packets uses every path once, and connections do not move in step.
//
// Source: packet spraying as in Dixit et al., INFOCOM 2013, without the random choice.
// Departure: the order is a stride, not a table, so that a pool of 65536 paths needs no memory.
#pragma once

#include "datapath/api/load_balancer.h"
#include "lb_policies/path_run.h"

namespace weir {

class RoundRobin final : public LoadBalancer {
 public:
  struct Config {
    int64_t pool = 0;
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::pool>("pool", 0, 65536, "paths in use; 0: all", "ours: all"),
  };

  RoundRobin(const LbInfo& lb, const Config& config);

  PathId PickPath(const TxContext& tx) override;

 private:
  RoundRobin(const LbInfo& lb, const Config& config, Rng rng);

  PathRun pool_;
  uint32_t stride_;     // prime to the size of the pool
  uint32_t index_ = 0;  // in the pool, of the next packet
};

}  // namespace weir
