// RTT probe: a rate that follows the RTT of probes, which go with the data and are answered at
// once, so that no acknowledgement and no receiver's delay is in it.
//
//   target = base RTT (1 + headroom + slope (1 - R / line rate))
//   rtt < target:    R <- R + n ai      n = hai_factor from the hai_after-th probe in a row on that
//                                       met less than half of headroom, else 1
//   otherwise:       R <- R max(1 - beta (rtt - target)/rtt, 1/2)      once an rtt
//   window = R target
//
// The less a sender has, the more delay it tolerates, so rates become equal. The window slows it
// down as soon as the RTT exceeds the target, before a probe tells; rates alone would swing.
//
// Source: ours. NVIDIA's DOCA documentation says of its zero-touch congestion control that RTTs are
// measured by probes of their own and that the target RTT is a linear function of the rate, with a
// slope of 0.1; its law is not published.
// Departure: a loss takes `loss_cut` of the rate once a round, and so does each time-out.
// Departure: after four idle base RTTs hyper increase starts anew.
#pragma once

#include "datapath/api/congestion_control.h"

namespace weir {

class RttProbe final : public CongestionControl {
 public:
  struct Config {
    Duration interval{};     // 0: one base RTT
    double headroom = 0.25;  // base RTTs
    double slope = 0.1;      // base RTTs
    double ai = 0.005;       // line rates
    double beta = 0.8;
    int64_t hai_after = 5;
    double hai_factor = 5;
    double min_rate = 0.001;  // line rates
    double loss_cut = 0.5;
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::interval>("interval", 0, 1e9, "time between probes; 0: one base RTT", "ours"),
      Param<&Config::headroom>("headroom", 0.01, 16, "delay of a sender at line rate, in base RTTs",
                               "ours"),
      Param<&Config::slope>("slope", 0, 16, "what a sender of no rate tolerates more, in base RTTs",
                            "NVIDIA DOCA documentation: 0.1"),
      Param<&Config::ai>("ai", 0.000001, 0.1, "increase for each probe, in line rates", "ours"),
      Param<&Config::beta>("beta", 0.01, 1, "cut in proportion to the excess delay",
                           "as swift: 0.8"),
      Param<&Config::hai_after>("hai_after", 1, 1000,
                                "probes of little delay in a row before hyper increase",
                                "as timely: 5"),
      Param<&Config::hai_factor>("hai_factor", 1, 100, "hyper increase, in increases",
                                 "as timely: 5"),
      Param<&Config::min_rate>("min_rate", 0.000001, 1, "smallest rate, in line rates",
                               "ours: a thousand senders"),
      Param<&Config::loss_cut>("loss_cut", 0.01, 0.99, "part of the rate that a loss takes",
                               "RFC 5681 section 3.1: 1/2"),
  };
  static constexpr CounterSpec kCounters[] = {
      {"delay_cuts", "rates cut because of a probe's delay"},
      {"loss_cuts", "rates cut because of a loss or a time-out"},
  };

  RttProbe(const FlowInfo& flow, const Config& config);

  void OnProbe(const ProbeSample& probe) override;
  void OnLoss(const LossSample& loss) override;
  void OnSpurious(const SpuriousSample& spurious) override;
  void OnTimeout(const TimeoutSample& timeout) override;
  void OnResume(Time now, Duration idle) override;
  Duration probe_interval() const override { return interval_; }
  void Restore(const Snapshot& snapshot) override;
  Allowance allowance() const override;
  std::span<const uint64_t> counters() const override { return counters_; }

  double target() const;  // nanoseconds

 private:
  void Multiply(double factor);

  // From the flow and the configuration.
  Duration interval_;
  double headroom_;
  double slope_;
  double beta_;
  int64_t hai_after_;
  double hai_factor_;
  double kept_after_loss_;
  Duration base_rtt_;
  Rate line_rate_;
  Rate min_rate_;
  Rate ai_;

  Rate rate_;                     // in [min_rate_, line_rate_]
  int64_t fast_ = 0;              // probes in a row with less than half of headroom
  Time last_cut_{INT64_MIN / 2};  // before all time, but not so far as to overflow
  int64_t loss_round_ = -1;       // the last round that a loss cut; -1: none
  Rate rate_before_loss_{};       // 0: no loss to undo
  uint64_t counters_[2] = {};
};

}  // namespace weir
