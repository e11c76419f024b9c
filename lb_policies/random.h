// Random spraying: a path drawn anew for each packet.
//
//   path = base + uniform [0, pool)
//
// Source: Dixit et al., INFOCOM 2013 (random packet spraying).
// Departure: a pool smaller than all paths, as UEC suggests; a run of paths from a random one on.
#pragma once

#include "datapath/api/load_balancer.h"
#include "lb_policies/path_run.h"

namespace weir {

class Random final : public LoadBalancer {
 public:
  struct Config {
    int64_t pool = 0;
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::pool>("pool", 0, 65536, "paths in use; 0: all", "Dixit et al.: all"),
  };

  Random(const LbInfo& lb, const Config& config);

  PathId PickPath(const TxContext& tx) override;

 private:
  Rng rng_;
  PathRun pool_;
};

}  // namespace weir
