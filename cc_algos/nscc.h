// NSCC: mark and delay together tell whether the window, the path or neither must change.
//
//                 delay < target                         delay >= target
//   unmarked   proportional increase                  fair increase
//                inc += alpha n (target - delay)        inc += fi n
//              (fast increase while delay is ~0:
//                cwnd += fi_scale n)
//   marked     nothing: the load balancer moves       multiplicative decrease, once a base RTT
//                                                       cwnd *= max(1 - gamma (avg - target)/avg,
//                                                                   max_md_jump) if avg > target
//   each adjust_bytes or adjust_period:  cwnd += inc / cwnd;  each adjust_period:  cwnd += eta
//   quick adapt, once base RTT + target: after a loss, or delay > qa_threshold, with less than
//     max_cwnd / 2^qa_gate achieved:     cwnd <- achieved; then ignore marked acknowledgements of
//                                        what was in flight
//   a trim, an inferred loss, a time-out of n bytes:    cwnd -= n
//
// with a = BDP / 150 kB, b = target / 12 us, alpha = 4 a b MTU / target, fi = 5 a MTU,
// eta = 0.15 a MTU, fi_scale = 0.25 a, max_cwnd = 1.5 BDP, target = 0.75 base RTT where the fabric
// trims and 1 base RTT elsewhere.
//
// Source: UEC 1.0 section 3.6.13, tables 3-77 and 3-82; uet-htsim `uec.cpp` where it is silent: the
// delay average (weight 0.0125, an unmarked sample above the target counts as base_rtt / 4), "delay
// is ~0" (< 1 us). Parameters are named as in OCP MRC's `mrc_ctl.h`.
// Departure: an acknowledgement of marked and unmarked packets is treated as two, because ours
// cover several packets and say how many bytes were marked.
// Departure: no receiver penalty (destination flow control); our receivers never ask for one.
// Departure: a loss that was none gives its bytes back. UEC has no notion of one.
// Departure: after four idle base RTTs the delay average and the fast increase start anew.
#pragma once

#include <algorithm>

#include "datapath/api/congestion_control.h"

namespace weir {

class Nscc final : public CongestionControl {
 public:
  struct Config {  // 0: derived from the flow as above, unless it says otherwise
    Duration base_rtt{};
    Duration target_delay{};
    Bytes max_cwnd{};
    double fi = 0;        // bytes
    double eta = 0;       // bytes
    double fi_scale = 0;  // bytes a byte
    double gamma = 0.8;
    double max_md_jump = 0.5;
    bool disable_qa = false;
    int64_t qa_gate = 3;
    Duration qa_threshold{};
    Bytes adjust_bytes_threshold{};      // 0: 8 MTU
    Duration adjust_period_threshold{};  // 0: base RTT
    double delay_gain = 0.0125;
    Duration fi_delay = Micros(1);
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::base_rtt>("base_rtt", 0, 1e9, "RTT of the empty path; 0: measured at set-up",
                               "UEC 1.0 section 3.6.13"),
      Param<&Config::target_delay>("target_delay", 0, 1e9,
                                   "queueing delay to hold; 0: 0.75 base RTT, 1 without trimming",
                                   "UEC 1.0 table 3-82"),
      Param<&Config::max_cwnd>("max_cwnd", 0, 1e9, "largest and first window; 0: 1.5 BDP",
                               "UEC 1.0 table 3-82"),
      Param<&Config::fi>("fi", 0, 1e9, "fair increase, in bytes; 0: 5 a MTU", "UEC 1.0 table 3-82"),
      Param<&Config::eta>("eta", 0, 1e9, "increase each period, in bytes; 0: 0.15 a MTU",
                          "UEC 1.0 table 3-82"),
      Param<&Config::fi_scale>("fi_scale", 0, 1000, "fast increase for each byte; 0: 0.25 a",
                               "UEC 1.0 table 3-82"),
      Param<&Config::gamma>("gamma", 0.01, 1, "cut in proportion to the excess delay",
                            "UEC 1.0 table 3-82: 0.8"),
      Param<&Config::max_md_jump>("max_md_jump", 0.01, 1, "most of one cut, as a factor",
                                  "UEC 1.0 table 3-82: 0.5"),
      Param<&Config::disable_qa>("disable_qa", 0, 1, "no quick adapt", "UEC 1.0 table 3-82: off"),
      Param<&Config::qa_gate>("qa_gate", 0, 20, "quick adapt below max_cwnd / 2^qa_gate achieved",
                              "UEC 1.0 table 3-82: 3"),
      Param<&Config::qa_threshold>(
          "qa_threshold", 0, 1e12,
          "delay that calls for quick adapt; 0: never with trimming, else drop delay - base RTT",
          "UEC 1.0 table 3-82"),
      Param<&Config::adjust_bytes_threshold>("adjust_bytes_threshold", 0, 1e9,
                                             "bytes between two adjustments; 0: 8 MTU",
                                             "UEC 1.0 table 3-82"),
      Param<&Config::adjust_period_threshold>("adjust_period_threshold", 0, 1e9,
                                              "time between two adjustments; 0: base RTT",
                                              "UEC 1.0 table 3-82"),
      Param<&Config::delay_gain>("delay_gain", 0.0001, 1,
                                 "weight of one sample in the delay average",
                                 "uet-htsim uec.cpp: 0.0125"),
      Param<&Config::fi_delay>("fi_delay", 0, 1e9, "delay that counts as none",
                               "uet-htsim uec.cpp: 1 us"),
  };
  static constexpr CounterSpec kCounters[] = {
      {"quick_adapts", "times the window fell to what was achieved"},
      {"cuts", "multiplicative decreases"},
      {"fast_increases", "acknowledgements answered by fast increase"},
  };

  Nscc(const FlowInfo& flow, const Config& config);

  void OnAck(const AckSample& ack) override;
  void OnLoss(const LossSample& loss) override;
  void OnSpurious(const SpuriousSample& spurious) override;
  void OnTimeout(const TimeoutSample& timeout) override;
  void OnResume(Time now, Duration idle) override;
  Snapshot snapshot() const override { return {.window = cwnd_, .min_rtt = base_rtt_}; }
  void Restore(const Snapshot& snapshot) override;
  Allowance allowance() const override { return {.window = cwnd_}; }
  std::span<const uint64_t> counters() const override { return counters_; }

  // Derived constants, for tests.
  double alpha() const { return alpha_; }  // bytes a nanosecond
  double fi() const { return fi_; }
  double eta() const { return eta_; }
  Bytes max_cwnd() const { return max_cwnd_; }
  Duration target() const { return target_; }
  Duration average_delay() const { return Duration(static_cast<int64_t>(average_delay_)); }

 private:
  void LearnBaseRtt(Duration rtt);
  void AverageDelay(Duration delay, bool marked);
  bool QuickAdapt(Time now, bool loss, bool marked, Duration delay, Bytes in_flight);
  void Increase(Bytes n, Duration delay);
  bool FastIncrease(Bytes n, Duration delay);
  void Decrease(Time now);
  void Adjust(Time now);
  void Reduce(Bytes n);
  void Clamp() { cwnd_ = std::clamp(cwnd_, mtu_, max_cwnd_); }

  // From the flow and the configuration.
  Bytes mtu_;
  Rate line_rate_;
  bool credit_;
  bool fixed_max_cwnd_;
  bool quick_adapt_;
  Duration configured_base_rtt_;
  Duration target_;
  Duration qa_threshold_;
  Duration adjust_period_;
  Duration fi_delay_;
  Duration stale_after_;
  Bytes adjust_bytes_;
  int64_t qa_gate_;
  double alpha_;
  double fi_;
  double eta_;
  double fi_scale_;
  double gamma_;
  double max_md_jump_;
  double delay_gain_;

  Duration base_rtt_;  // smallest seen, at most the configured one
  Bytes max_cwnd_;
  Bytes cwnd_;                    // in [mtu_, max_cwnd_]
  double average_delay_ = 0;      // nanoseconds
  double inc_ = 0;                // bytes^2, added since the last adjustment
  Bytes received_{};              // since the last adjustment
  Bytes achieved_{};              // since the last quick-adapt period began
  Bytes unmarked_at_no_delay_{};  // the run that leads to fast increase
  bool fast_ = false;             // fast increase is on
  bool qa_armed_ = false;         // a trim came; stays until quick adapt acts
  Bytes to_ignore_{};             // in flight when quick adapt acted
  Bytes ignored_{};               // of it, seen since
  Time qa_end_{kBefore};          // of the quick-adapt period; kBefore: none has begun
  Time next_adjust_{kBefore};
  Time next_cut_{kBefore};
  uint64_t counters_[3] = {};

  static constexpr Time kBefore{INT64_MIN};
};

}  // namespace weir
