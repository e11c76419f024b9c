// The rate that TIMELY and its patched form have in common: what moves it below t_low and above
// t_high, losses, and pauses. Between the two they differ.
#pragma once

#include "cc_algos/rtt_gradient.h"
#include "datapath/api/congestion_control.h"

namespace weir {

class GradientRate {
 public:
  // Of both algorithms' parameters, by the same names.
  struct Config {
    Duration t_low{};
    Duration t_high{};
    double delta = 0;
    double gain = 0;
    double min_rate = 0;
    double loss_cut = 0;
    double window_bdps = 0;
  };
  template <class Algorithm>
  static Config Of(const Algorithm& c) {
    return {.t_low = c.t_low,
            .t_high = c.t_high,
            .delta = c.delta,
            .gain = c.gain,
            .min_rate = c.min_rate,
            .loss_cut = c.loss_cut,
            .window_bdps = c.window_bdps};
  }
  // `beta_high`: the cut above t_high, in proportion to the excess.
  GradientRate(const FlowInfo& flow, const Config& config, double beta_high);

  struct Sample {
    enum class Zone : uint8_t { kNone, kLow, kBetween, kHigh } zone = Zone::kNone;
    double part = 0;   // of a base RTT that it counts for
    double above = 0;  // its RTT above t_low, in multiples of that
  };
  // Moves the rate if the RTT is low or high; between, that is the caller's. kNone: no gradient
  // yet.
  Sample Take(const AckSample& ack);
  void OnLoss(const LossSample& loss);
  void OnSpurious();
  void OnTimeout();
  // False: the pause was short.
  bool OnResume(Duration idle);
  void Restore(const Snapshot& snapshot);

  void Raise(double deltas);
  // By at most a half.
  void Cut(double part);

  double gradient() const { return gradient_.value(); }
  Allowance allowance() const { return {.window = window_, .rate = rate_}; }

 private:
  void Multiply(double factor);

  // From the flow and the configuration.
  Duration base_rtt_;
  Duration t_low_;
  Duration t_high_;
  double beta_high_;
  double kept_after_loss_;
  Rate line_rate_;
  Rate min_rate_;
  Rate delta_;
  Bytes window_;

  RttGradient gradient_;
  Time sampled_{};           // the last sample
  Rate rate_;                // in [min_rate_, line_rate_]
  int64_t loss_round_ = -1;  // the last round that a loss cut; -1: none
  Rate rate_before_loss_{};  // 0: no loss to undo
};

}  // namespace weir
