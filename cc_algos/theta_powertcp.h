// theta-PowerTCP: PowerTCP for networks without telemetry; RTTs tell the power of the busiest link.
//
//   power = (dRTT/dt + 1) RTT / tau
//   Gamma <- (Gamma (tau - dt) + power dt) / tau            dt at most tau
//   once a round:   w <- gamma (w / Gamma + beta) + (1 - gamma) w
//   rate = w / tau, and a packet may leave while less than w is in flight
// with tau the base RTT. A link that is not full looks like one that is, so only beta fills it.
//
// Source: Addanki, Michel, Schmid, NSDI 2022, algorithm 2; `rdma-hw.cc` of
// ns3-datacenter for the least current, one half, and for beta, 150 Mb/s at 25 Gb/s.
// Departure: beta is at least half a packet. Less is lost in the delay of packets that happen to
// meet, and the link does not fill.
// Departure: a loss takes `loss_cut` of the window once a round, and so does each time-out.
// Departure: a sample taken while our own host stalled is skipped, and with it the difference.
// Departure: after four idle base RTTs the last RTT and Gamma are as at the start.
#pragma once

#include "cc_algos/power_window.h"
#include "datapath/api/congestion_control.h"

namespace weir {

class ThetaPowerTcp final : public CongestionControl {
 public:
  struct Config {
    double gamma = 0.7;
    double increase = 0.006;    // beta, BDPs
    double min_window = 0.001;  // BDPs
    double loss_cut = 0.5;
  };
  static constexpr const char* kOnePathBecause =
      "the difference of two paths looks like a queue that grows";
  static constexpr ParamSpec kParams[] = {
      Param<&Config::gamma>("gamma", 0.01, 1, "weight of the new window",
                            "ns3-datacenter rdma-hw.cc: 0.7"),
      Param<&Config::increase>("increase", 0.00001, 1, "beta, growth each round, in BDPs",
                               "ns3-datacenter rdma-hw.cc: 150 Mb/s of 25 Gb/s"),
      Param<&Config::min_window>("min_window", 0.00001, 1, "smallest window, in BDPs",
                                 "as hpcc: 100 Mb/s of 100 Gb/s"),
      Param<&Config::loss_cut>("loss_cut", 0.01, 0.99, "part of the window that a loss takes",
                               "RFC 5681 section 3.1: 1/2"),
  };

  ThetaPowerTcp(const FlowInfo& flow, const Config& config);
  // Each packet is acknowledged, as in the source: the law of each is that of the whole window.
  static ReceiverDuty Duty(const FlowInfo&, const Config&) { return {.ack_every = {}}; }

  void OnAck(const AckSample& ack) override;
  void OnLoss(const LossSample& loss) override { window_.OnLoss(loss.round); }
  void OnSpurious(const SpuriousSample&) override { window_.OnSpurious(); }
  void OnTimeout(const TimeoutSample&) override { window_.OnTimeout(); }
  void OnResume(Time now, Duration idle) override;
  void Restore(const Snapshot& snapshot) override { window_.Restore(snapshot); }
  Allowance allowance() const override { return window_.allowance(); }

  double power() const { return power_.value(); }  // Gamma
  double window() const { return window_.bytes(); }
  double increase() const { return window_.increase(); }

 private:
  PowerWindow window_;
  SmoothedPower power_;
  Duration rtt_before_{};  // 0: none
  Time rtt_at_{};
  int64_t round_ = 0;
  Duration stale_after_;
};

}  // namespace weir
