// The window law of PowerTCP, given the smoothed power of the way; powertcp.h has the equations.
// What measures power differs: powertcp from the records of every hop, theta_powertcp from RTTs.
#pragma once

#include "datapath/api/congestion_control.h"

namespace weir {

class PowerWindow {
 public:
  struct Setting {
    double gamma = 0;
    double increase = 0;    // beta, BDPs
    double min_window = 0;  // BDPs
    double loss_cut = 0;
  };
  PowerWindow(const FlowInfo& flow, const Setting& setting);

  // w <- gamma (before / power + beta) + (1 - gamma) w
  void Update(double before, double power);
  void OnLoss(int64_t round);
  void OnSpurious();
  void OnTimeout();
  void Restore(const Snapshot& snapshot);
  Allowance allowance() const { return allowance_; }

  double bytes() const { return window_; }
  double increase() const { return increase_; }  // beta, bytes
  double base_rtt() const { return base_rtt_; }  // tau, nanoseconds

 private:
  void SetWindow(double bytes);

  // From the flow and the configuration.
  Bytes mtu_;
  double base_rtt_;
  double gamma_;
  double kept_after_loss_;
  double first_window_;  // also the largest
  double increase_;
  double min_window_;

  double window_ = 0;              // in [min_window_, first_window_]
  int64_t loss_round_ = -1;        // the last round that a loss cut; -1: none
  double window_before_loss_ = 0;  // 0: no loss to undo
  Allowance allowance_;            // of window_
};

// Gamma smoothed over one base RTT; as at an exactly full link, 1, until measured. What is below
// one half would double the window, and comes from two samples that lie close together.
class SmoothedPower {
 public:
  // Source: `rdma-hw.cc` of ns3-datacenter, for the current.
  static constexpr double kCurrentMin = 0.5;

  explicit SmoothedPower(double base_rtt) : base_rtt_(base_rtt) {}
  void Add(double power, double dt) {
    const double weight = dt < base_rtt_ ? dt / base_rtt_ : 1;
    value_ += weight * (power - value_);
  }
  double value() const { return value_; }
  void Clear() { value_ = 1; }

 private:
  double base_rtt_;
  double value_ = 1;
};

}  // namespace weir
