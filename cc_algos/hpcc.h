// HPCC: compute the window from what every switch on the way says of its link.
//
//   for each hop:   u' = min(q, q_before) / (B T) + txRate / B
//                     txRate = (transmitted - transmitted_before) / (stamp - stamp_before)
//   of the hop with the largest u', and tau = min(stamp - stamp_before, T):
//                   U <- (1 - tau/T) U + (tau/T) u'
//   U >= eta or stage >= max_stage:   W = Wc / (U / eta) + W_AI
//   otherwise:                        W = Wc + W_AI
//   once a round:   Wc <- W, and stage <- 0 in the first case, stage + 1 in the second
//   rate = W / T, and a packet may leave while less than W is in flight
// with W_AI = BDP (1 - eta) / N. Each acknowledgement computes W anew from the Wc of its round, so
// that a round reacts at once, but once.
//
// Source: Li et al., SIGCOMM 2019, section 3 and algorithm 1; `rdma-hw.cc` of
// High-Precision-Congestion-Control for U = 1 at the start.
// Departure: a loss takes `loss_cut` of Wc once a round, and so does each time-out. The source is
// made for networks without losses.
// Departure: a hop whose number changed, or whose stamp did not, is left out of one measurement; so
// the two packets compared passed the same outputs. Sprayed packets measure the hops they share.
// Departure: after four idle base RTTs the records and U are as at the start.
#pragma once

#include "cc_algos/hop_records.h"
#include "cc_algos/hpcc_window.h"
#include "datapath/api/congestion_control.h"

namespace weir {

class Hpcc final : public CongestionControl {
 public:
  using Config = HpccWindow::Config;
  static constexpr const char* kOnePathBecause =
      "it compares two records of one hop, packet by packet";
  static constexpr auto& kParams = HpccWindow::kParams;

  Hpcc(const FlowInfo& flow, const Config& config);
  // Each packet is acknowledged, as in the source: the law of each is that of the whole window.
  static ReceiverDuty Duty(const FlowInfo&, const Config&) { return {.ack_every = {}}; }

  void OnAck(const AckSample& ack) override;
  void OnLoss(const LossSample& loss) override { window_.OnLoss(loss.round); }
  void OnSpurious(const SpuriousSample&) override { window_.OnSpurious(); }
  void OnTimeout(const TimeoutSample&) override { window_.OnTimeout(); }
  void OnResume(Time now, Duration idle) override;
  void Restore(const Snapshot& snapshot) override { window_.Restore(snapshot); }
  Allowance allowance() const override { return window_.allowance(); }

  double utilisation() const { return utilisation_; }
  const HpccWindow& law() const { return window_; }

 private:
  bool Measure(const AckSample& ack);

  HpccWindow window_;
  HopRecords hops_;
  double utilisation_ = 1;  // U
  Duration stale_after_;
};

}  // namespace weir
