// QP scaling: a connection behaves like `flows` queue pairs, each of which keeps to one path.
//
//   whole messages:  message n takes flow n mod flows
//   `split`:         packet n takes flow n mod flows
//   sent again:      on the flow that lost it
//
// The path of each flow is drawn for itself, so that two flows may meet.
//
// Source: Gangidi et al., SIGCOMM 2024 (E-ECMP with QP scaling); NCCL's
// NCCL_IB_QPS_PER_CONNECTION and NCCL_IB_SPLIT_DATA_ON_QPS.
// Departure: one window for all flows, not one each: the slowest path sets the pace of a split
// message.
// Departure: a split message is dealt out packet by packet, because a connection sends in order:
// consecutive pieces of it would use one path after the other.
// Reorders: messages among each other; with `split`, packets.
#pragma once

#include "datapath/api/load_balancer.h"

namespace weir {

class QpScaling final : public LoadBalancer {
 public:
  static constexpr bool kOwnUnits = true;
  static constexpr uint32_t kMaxFlows = 64;

  struct Config {
    int64_t flows = 4;
    bool split = false;
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::flows>("flows", 1, kMaxFlows, "paths of a pair, like its queue pairs",
                            "Gangidi et al.: 4 to 16; NCCL: 1"),
      Param<&Config::split>("split", 0, 1, "divide each message among the flows",
                            "NCCL_IB_SPLIT_DATA_ON_QPS: off"),
  };
  static constexpr Reordering Reorders(const Config& config) {
    return config.split ? Reordering::kAlways : Reordering::kRarely;
  }

  QpScaling(const LbInfo& lb, const Config& config);

  PathId PickPath(const TxContext& tx) override;

 private:
  uint32_t flows_;
  bool split_;
  uint32_t next_ = 0;  // flow of the next packet, if messages are split
  PathId path_[kMaxFlows] = {};
};

}  // namespace weir
