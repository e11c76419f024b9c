// SMaRTT: mark and RTT together tell how much to add or take; what trims or time-outs say is
// answered at once by what actually arrived.
//
//                 rtt < target                                rtt >= target
//   unmarked   + min(n, mi (target - rtt)/rtt n/cwnd MTU)   + fi n/cwnd MTU
//              + fi n/cwnd MTU
//   marked     - fd cwnd/BDP n                              - min(n, md (rtt - target)/rtt n)
//                                                           - fd cwnd/BDP n
//   decreases only while the average of marks exceeds `mark_level` (wait to decrease)
//   fast increase, once a window came unmarked at the base RTT:  cwnd <- cwnd + k n
//   quick adapt, once a target RTT, after a trim, loss or time-out:
//     cwnd <- 0.8 max(acknowledged in the last target RTT, MTU), then what was in flight is ignored
//   a trim or loss of n bytes:                                   cwnd <- cwnd - n
// with n bytes acknowledged, mi = base RTT / (target - base RTT).
//
// Source: Bonato et al., arXiv 2404.01630. `fd`, `md` and `k` are those of the published
// artifact, because the printed ones (0.8, 2, 2) make the window swing.
// Departure: marked and unmarked bytes of one acknowledgement are treated separately; a sample
// weighs as many times as it has packets.
// Departure: a loss that was none gives its bytes back.
// Departure: after four idle base RTTs averages and fast increase start anew, and the window is at
// most the first one.
#pragma once

#include <algorithm>

#include "datapath/api/congestion_control.h"

namespace weir {

class Smartt final : public CongestionControl {
 public:
  struct Config {
    double target = 1.5;  // base RTTs
    double fi = 0.25;
    double fd = 0.5;
    double md = 1;
    double k = 1;
    Duration fast_delay = Micros(1);
    double mark_gain = 0.125;
    double mark_level = 0.25;
    double qa_factor = 0.8;
    double initial_window = 1.25;  // BDPs
    double max_window = 1.25;      // BDPs
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::target>("target", 1.01, 16, "target RTT, in base RTTs",
                             "arXiv 2404.01630: 1.5"),
      Param<&Config::fi>("fi", 0.001, 16, "fair increase each round, in packets",
                         "arXiv 2404.01630: 0.25"),
      Param<&Config::fd>("fd", 0.001, 4,
                         "fair decrease for each marked byte at a window of one BDP",
                         "artifact of arXiv 2404.01630: 0.5"),
      Param<&Config::md>("md", 0.001, 8, "decrease for each marked byte, by the excess RTT",
                         "artifact of arXiv 2404.01630: 1"),
      Param<&Config::k>("k", 0.01, 8, "fast increase for each byte",
                        "artifact of arXiv 2404.01630: 1"),
      Param<&Config::fast_delay>("fast_delay", 0, 1e9, "delay that counts as none",
                                 "as nscc: uet-htsim uec.cpp: 1 us"),
      Param<&Config::mark_gain>("mark_gain", 0.001, 1,
                                "weight of one packet in the average of marks",
                                "arXiv 2404.01630: 1/8"),
      Param<&Config::mark_level>("mark_level", 0, 1,
                                 "average of marks below which nothing is taken",
                                 "arXiv 2404.01630: 1/4"),
      Param<&Config::qa_factor>("qa_factor", 0.1, 1, "quick adapt's part of what was achieved",
                                "arXiv 2404.01630: 0.8"),
      Param<&Config::initial_window>("initial_window", 0.01, 16, "first window, in BDPs",
                                     "arXiv 2404.01630: 1.25"),
      Param<&Config::max_window>("max_window", 0.1, 16, "largest window, in BDPs",
                                 "arXiv 2404.01630: 1.25"),
  };
  static constexpr CounterSpec kCounters[] = {
      {"quick_adapts", "times the window fell to what was achieved"},
      {"fast_increases", "acknowledgements answered by fast increase"},
  };

  Smartt(const FlowInfo& flow, const Config& config);

  void OnAck(const AckSample& ack) override;
  void OnLoss(const LossSample& loss) override;
  void OnSpurious(const SpuriousSample& spurious) override;
  void OnTimeout(const TimeoutSample& timeout) override;
  void OnResume(Time now, Duration idle) override;
  void Restore(const Snapshot& snapshot) override;
  Allowance allowance() const override { return {.window = window_}; }
  std::span<const uint64_t> counters() const override { return counters_; }

  double window() const { return cwnd_; }  // bytes
  double marks() const { return marks_; }  // their average

 private:
  bool Ignored(Bytes n);
  bool QuickAdapt(Time now, Bytes in_flight);
  bool FastIncrease(double n, double rtt, bool marked);
  void Increase(double n, double rtt);
  void Decrease(double n, double rtt);
  void SetWindow(double bytes);

  // From the flow and the configuration. RTTs are nanoseconds, windows bytes.
  double mtu_;
  double bdp_;
  double base_rtt_;
  double target_;
  double mi_;
  double fi_;
  double fd_;
  double md_;
  double k_;
  double fast_delay_;
  double mark_gain_;
  double mark_level_;
  double qa_factor_;
  double max_window_;
  double initial_window_;
  Duration stale_after_;

  double cwnd_ = 0;         // in [mtu_, max_window_]
  Bytes window_;            // of cwnd_
  double marks_ = 0;        // average, in [0, 1]
  double at_base_rtt_ = 0;  // bytes in a row without mark or delay
  bool fast_ = false;       // fast increase is on
  bool qa_armed_ = false;   // a trim, loss or time-out came
  Bytes acked_{};           // in this quick-adapt period
  Bytes to_ignore_{};       // of what was in flight when quick adapt acted
  Time qa_end_{kBefore};    // of the period; kBefore: none has begun
  uint64_t counters_[2] = {};

  static constexpr Time kBefore{INT64_MIN};
};

}  // namespace weir
