// MPRDMA's window law: one more packet a window of unmarked packets, half a packet less for each
// marked one.
//
//   for each unmarked packet:  cwnd <- cwnd + 1 / cwnd
//   for each marked packet:    cwnd <- cwnd - 1/2
//   a loss:                    cwnd <- cwnd / 2           once a round
//   a time-out:                cwnd <- 1
// with cwnd in packets, at least 1. With a fraction p of packets marked it rests at 2 (1 - p) / p.
//
// Source: Lu et al., NSDI 2018.
// Departure: a part of a packet counts as such a part of one.
// Departure: starts at one BDP, as RDMA senders do, and has a largest window.
// Departure: the paths are the load-balancing policy's; the source sends a packet on the path of
// the acknowledgement that allowed it. Departure: after four idle base RTTs the window falls back
// to the initial one, if larger.
#pragma once

#include "datapath/api/congestion_control.h"

namespace weir {

class MpRdma final : public CongestionControl {
 public:
  struct Config {
    double increase = 1.0;  // packets a round
    double decrease = 0.5;  // packets a marked one
    double loss_cut = 0.5;
    double initial_window = 1.0;  // BDPs
    double max_window = 4.0;      // BDPs
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::increase>("increase", 0.01, 64,
                               "growth for a window of unmarked packets, in packets",
                               "NSDI 2018: 1"),
      Param<&Config::decrease>("decrease", 0.01, 1, "cut for each marked packet, in packets",
                               "NSDI 2018: 1/2"),
      Param<&Config::loss_cut>("loss_cut", 0.01, 0.99, "part of the window that a loss takes",
                               "RFC 5681 section 3.1: 1/2"),
      Param<&Config::initial_window>("initial_window", 0.01, 16, "first window, in BDPs",
                                     "ours: line-rate start of RDMA senders"),
      Param<&Config::max_window>("max_window", 0.1, 16, "largest window, in BDPs",
                                 "ours: above the target of any window"),
  };

  MpRdma(const FlowInfo& flow, const Config& config);

  void OnAck(const AckSample& ack) override;
  void OnLoss(const LossSample& loss) override;
  void OnSpurious(const SpuriousSample& spurious) override;
  void OnTimeout(const TimeoutSample& timeout) override;
  void OnResume(Time now, Duration idle) override;
  void Restore(const Snapshot& snapshot) override;
  Allowance allowance() const override { return {.window = window_}; }

  double window() const { return cwnd_; }  // packets

 private:
  void SetWindow(double packets);

  // From the flow and the configuration. Windows are packets.
  double mtu_;
  double packets_per_byte_;
  double increase_;
  double decrease_;
  double kept_after_loss_;
  double max_window_;
  double initial_window_;
  Duration stale_after_;

  double cwnd_ = 1;                // in [1, max_window_]
  Bytes window_;                   // of cwnd_
  int64_t loss_round_ = -1;        // the last round that a loss cut; -1: none
  double window_before_loss_ = 0;  // 0: no loss to undo
};

}  // namespace weir
