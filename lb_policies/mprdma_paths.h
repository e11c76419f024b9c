// MP-RDMA's choice of paths: an acknowledgement sends the next packet on the path that it came for.
//
//   unmarked, in time:  the path carries one more packet
//   marked or late:     it does not;  late: round trip > shortest seen + `late`
//   to send:            the path of the oldest such acknowledgement; with probability `probe`, or
//                       when there is none because the window grows, a random one
//
// so that each path gets what it returns, without any state of paths; those that lag are left.
//
// Source: Lu et al., NSDI 2018 (MP-RDMA).
// Departure: paths only; the window, 1/cwnd more for an unmarked and 1/2 packet less for a marked
// acknowledgement, is a congestion-control algorithm's business.
// Departure: a path lags by time, not by packet numbers, which a policy does not see.
#pragma once

#include "datapath/api/load_balancer.h"
#include "lb_policies/path_ring.h"

namespace weir {

class MprdmaPaths final : public LoadBalancer {
 public:
  struct Config {
    double probe = 0.01;
    Duration late{};
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::probe>("probe", 0, 1, "part of all packets that try a random path", "ours"),
      Param<&Config::late>("late", 0, 1e9, "a path that lags more is left; 0: one base RTT",
                           "ours; Lu et al.: a number of packets"),
  };
  static constexpr CounterSpec kCounters[] = {
      {"clocked", "packets sent on the path of an acknowledgement"},
      {"drawn", "packets sent on a random path"},
      {"left_behind", "acknowledgements that came late"},
  };

  MprdmaPaths(const LbInfo& lb, const Config& config);

  PathId PickPath(const TxContext& tx) override;
  void OnFeedback(const PathFeedback& feedback) override;
  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  // Acknowledgements that have not yet sent a packet. They wait only while the sender pauses.
  static constexpr uint32_t kRoom = 64;

  uint32_t paths_;
  double probe_;
  Duration late_;
  Rng rng_;
  Duration shortest_;
  PathRing<kRoom> clocked_;
  uint64_t counters_[3] = {};
};

}  // namespace weir
