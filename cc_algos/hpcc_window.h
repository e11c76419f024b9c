// The window law of HPCC, given the utilisation U of the busiest link; hpcc.h has the equations.
// What measures U differs: hpcc from the records of every hop, hpcc_pint from one byte.
#pragma once

#include "datapath/api/congestion_control.h"

namespace weir {

class HpccWindow {
 public:
  struct Config {
    double eta = 0.95;
    int64_t max_stage = 5;
    double senders = 16;        // N of W_AI
    double min_window = 0.001;  // BDPs
    double loss_cut = 0.5;
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::eta>("eta", 0.5, 1, "utilisation to hold", "SIGCOMM 2019 section 3.3: 0.95"),
      Param<&Config::max_stage>("max_stage", 0, 100,
                                "rounds of additive increase before a multiplicative one",
                                "SIGCOMM 2019 section 3.3: 5"),
      Param<&Config::senders>("senders", 1, 100000,
                              "connections expected on one link: W_AI = BDP (1 - eta) / senders",
                              "ours: collectives have few, large connections"),
      Param<&Config::min_window>("min_window", 0.00001, 1, "smallest window, in BDPs",
                                 "HPCC artifact, rdma-hw.cc: 100 Mb/s of 100 Gb/s"),
      Param<&Config::loss_cut>("loss_cut", 0.01, 0.99, "part of the window that a loss takes",
                               "RFC 5681 section 3.1: 1/2"),
  };

  HpccWindow(const FlowInfo& flow, const Config& config);

  void OnUtilisation(double u, int64_t round);
  // An acknowledgement without a measurement; the first says when the first round ends.
  void StartRound(int64_t round) { round_ = round; }
  void OnLoss(int64_t round);
  void OnSpurious();
  void OnTimeout();
  void OnResume();
  void Restore(const Snapshot& snapshot);
  Allowance allowance() const { return allowance_; }

  double window() const { return window_; }        // W, bytes
  double reference() const { return reference_; }  // Wc
  double increase() const { return increase_; }    // W_AI, bytes
  double base_rtt() const { return base_rtt_; }    // T, nanoseconds

 private:
  void Cut();
  double Clamped(double bytes) const;
  void SetWindow(double bytes);

  // From the flow and the configuration.
  Bytes mtu_;
  double base_rtt_;
  double eta_;
  int64_t max_stage_;
  double kept_after_loss_;
  double first_window_;  // also the largest
  double increase_;
  double min_window_;

  double window_ = 0;     // in [min_window_, first_window_]
  double reference_ = 0;  // likewise
  int64_t stage_ = 0;     // rounds of additive increase
  int64_t round_ = 0;
  int64_t loss_round_ = -1;           // the last round that a loss cut; -1: none
  double reference_before_loss_ = 0;  // 0: no loss to undo
  Allowance allowance_;               // of window_
};

}  // namespace weir
