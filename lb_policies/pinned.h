// Path pinning: every packet takes the path that was configured.
//
//   path = `path` mod paths
//
// Source: the first fabric of Gangidi et al., SIGCOMM 2024 (RDMA over Ethernet at Meta), which
// routed each rank over an uplink of its own.
// Departure: the sender names the path; there the switches derived it from the destination.
#pragma once

#include "datapath/api/load_balancer.h"

namespace weir {

class Pinned final : public LoadBalancer {
 public:
  static constexpr bool kOnePath = true;

  struct Config {
    int64_t path = 0;
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::path>("path", 0, 65535, "the path; modulo the number of paths", "ours: 0"),
  };

  Pinned(const LbInfo& lb, const Config& config);

  PathId PickPath(const TxContext&) override { return path_; }

 private:
  PathId path_;
};

}  // namespace weir
