// Falcon: two windows, one that holds the fabric's delay at a target as Swift does, and one that
// holds the peer's receive queue at a level.
//
//   target = base_target + flow scaling of fcwnd (flow_scaling.h)
//   delay < target:   fcwnd <- fcwnd + ai n / fcwnd        (+ ai n below one packet)
//   otherwise:        fcwnd <- fcwnd max(1 - beta (delay - target)/delay, 1 - max_mdf)
//   a loss:           fcwnd <- fcwnd (1 - max_mdf)         both only if now - last cut >= rtt
//   a time-out:       as a loss; from the `timeout_limit`th in a row on, fcwnd <- min_window
//   level < nic_target:  ncwnd <- ncwnd + nic_ai           once an rtt, and at once after a cut
//   otherwise:           ncwnd <- ncwnd max(1 - (level - nic_target)/level, 1 - nic_max_mdf)
//                                                          once an rtt
//   window = min(fcwnd, ncwnd); below one packet, one each rtt / window
// with windows in packets, n packets acknowledged and level in [0, 31].
//
// Source: Falcon transport protocol specification 0.9, sections 9.1 and 10; uet-htsim `swift.cpp`
// for the values of Swift that are not published.
// Departure: ncwnd counts packets in flight, not outstanding requests, which are messages here and
// may be of any size; so it may fall below one, too.
// Departure: no resource NACK; a packet that finds no buffer is a loss.
// Departure: base_target and fs_range are multiples of base_rtt, as in swift.
// Departure: after four idle base RTTs both windows fall back to the initial one, if larger.
#pragma once

#include "cc_algos/swift_window.h"
#include "datapath/api/congestion_control.h"

namespace weir {

class Falcon final : public CongestionControl {
 public:
  struct Config {
    Duration base_target{};  // 0: 1.25 base RTT
    Duration fs_range{};     // 0: 5 base targets
    double fs_min = 0.1;     // packets, below fs_max
    double fs_max = 100;     // packets
    double ai = 1.0;         // packets an RTT
    double beta = 0.8;
    double max_mdf = 0.5;
    int64_t nic_target = 16;  // level
    double nic_ai = 1.0;      // packets an RTT
    double nic_max_mdf = 0.5;
    double initial_window = 1.0;  // BDPs
    double min_window = 0.01;     // packets
    double max_window = 4.0;      // BDPs
    int64_t timeout_limit = 5;
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::base_target>("base_target", 0, 1e9,
                                  "delay target of a large window; 0: 1.25 base RTT",
                                  "ours: as swift"),
      Param<&Config::fs_range>("fs_range", 0, 1e9, "most that flow scaling adds; 0: 5 base targets",
                               "uet-htsim swift.cpp: 5 base"),
      Param<&Config::fs_min>("fs_min", 0.001, 1, "window where flow scaling is largest, in packets",
                             "uet-htsim swift.cpp: 0.1"),
      Param<&Config::fs_max>("fs_max", 2, 10000, "window where flow scaling ends, in packets",
                             "uet-htsim swift.cpp: 100"),
      Param<&Config::ai>("ai", 0.01, 64, "growth of fcwnd each RTT, in packets",
                         "uet-htsim swift.cpp: 1"),
      Param<&Config::beta>("beta", 0.01, 1, "cut in proportion to the excess delay",
                           "uet-htsim swift.cpp: 0.8"),
      Param<&Config::max_mdf>("max_mdf", 0.01, 0.99, "most of one cut of fcwnd",
                              "uet-htsim swift.cpp: 0.5"),
      Param<&Config::nic_target>("nic_target", 1, 31, "level of the peer's receive queue to hold",
                                 "ours: half full"),
      Param<&Config::nic_ai>("nic_ai", 0.01, 64, "growth of ncwnd each RTT, in packets",
                             "ours: as ai"),
      Param<&Config::nic_max_mdf>("nic_max_mdf", 0.01, 0.99, "most of one cut of ncwnd",
                                  "ours: as max_mdf"),
      Param<&Config::initial_window>("initial_window", 0.01, 16, "first windows, in BDPs",
                                     "ours: line-rate start of RDMA senders"),
      Param<&Config::min_window>("min_window", 0.001, 1, "smallest windows, in packets",
                                 "ours: as swift"),
      Param<&Config::max_window>("max_window", 1, 16, "largest windows, in BDPs", "ours: as swift"),
      Param<&Config::timeout_limit>("timeout_limit", 1, 100, "time-outs in a row that reset fcwnd",
                                    "uet-htsim swift.cpp: 5"),
  };
  static constexpr CounterSpec kCounters[] = {
      {"delay_cuts", "fcwnd cut because of delay"},
      {"loss_cuts", "fcwnd cut because of a loss or a time-out"},
      {"nic_cuts", "ncwnd cut because of the peer's receive queue"},
  };

  Falcon(const FlowInfo& flow, const Config& config);

  void OnAck(const AckSample& ack) override;
  void OnLoss(const LossSample& loss) override;
  void OnSpurious(const SpuriousSample& spurious) override;
  void OnTimeout(const TimeoutSample& timeout) override;
  void OnResume(Time now, Duration idle) override;
  Snapshot snapshot() const override;
  void Restore(const Snapshot& snapshot) override;
  Allowance allowance() const override { return allowance_; }
  std::span<const uint64_t> counters() const override { return counters_; }

  double fcwnd() const { return fabric_.packets(); }
  double ncwnd() const { return ncwnd_; }             // packets
  double target() const { return fabric_.target(); }  // nanoseconds

 private:
  void FollowReceiver(const AckSample& ack);
  void Refresh();

  // From the configuration.
  double nic_target_;
  double nic_ai_;
  double nic_max_mdf_;

  SwiftWindow fabric_;
  double ncwnd_;               // packets, in the limits of fabric_
  bool nic_cut_last_ = false;  // the last change of ncwnd was a cut
  // Of ncwnd; before all time, but not so far as to overflow.
  Time last_nic_change_{INT64_MIN / 2};
  Allowance allowance_;  // of both windows
  uint64_t counters_[3] = {};
};

}  // namespace weir
