// HPCC-PINT: HPCC, told the load of the busiest link in one byte instead of a record of every hop.
//
//   each switch:     load <- (1 - tau/T) load + tau/T u'        u' as in HPCC, of its own link
//                    and raises the packet's byte to its code, rounded up or down by chance so that
//                    the mean is the load
//   U = what the byte of the acknowledged packet stands for
//   U >= eta or stage >= max_stage:   W = Wc / (U / eta) + W_AI
//   otherwise:                        W = Wc + W_AI
//   once a round:    Wc <- W, and stage <- 0 in the first case, stage + 1 in the second
//   rate = W / T, and a packet may leave while less than W is in flight
// with W_AI = BDP (1 - eta) / N.
//
// Source: Ben Basat et al., SIGCOMM 2020 (PINT); Li et al., SIGCOMM 2019, algorithm 1;
// `rdma-hw.cc` of High-Precision-Congestion-Control. Codes are steps of 5 %.
// Departure: every packet carries the byte, and none is left out.
// Departure: a loss takes `loss_cut` of Wc once a round, and so does each time-out. The source is
// made for networks without losses.
#pragma once

#include "cc_algos/hpcc_window.h"
#include "datapath/api/congestion_control.h"

namespace weir {

class HpccPint final : public CongestionControl {
 public:
  using Config = HpccWindow::Config;
  static constexpr auto& kParams = HpccWindow::kParams;

  HpccPint(const FlowInfo& flow, const Config& config);
  // Each packet is acknowledged, as in the source: the law of each is that of the whole window.
  static ReceiverDuty Duty(const FlowInfo&, const Config&) { return {.ack_every = {}}; }

  void OnAck(const AckSample& ack) override;
  void OnLoss(const LossSample& loss) override { window_.OnLoss(loss.round); }
  void OnSpurious(const SpuriousSample&) override { window_.OnSpurious(); }
  void OnTimeout(const TimeoutSample&) override { window_.OnTimeout(); }
  void OnResume(Time now, Duration idle) override;
  void Restore(const Snapshot& snapshot) override { window_.Restore(snapshot); }
  Allowance allowance() const override { return window_.allowance(); }

  const HpccWindow& law() const { return window_; }

 private:
  HpccWindow window_;
  bool started_ = false;  // the first round
  Duration stale_after_;
};

}  // namespace weir
