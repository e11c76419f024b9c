// STrack: the window follows the delay, and marks say whether a delay is worth a cut.
//
//   unmarked, delay < target:      cwnd <- cwnd + alpha n (target - delay) / cwnd
//   unmarked, delay > 2 target:    cwnd <- cwnd + guard n / cwnd
//   marked, avg > target, cwnd > achieved, once a base RTT:
//     delay > reset_delay:         cwnd <- achieved
//     otherwise:                   cwnd <- cwnd max(1 - beta (avg - target)/avg, 1 - max_mdf)
//   a loss:                        cwnd <- cwnd (1 - max_mdf)     once a base RTT
//   a time-out:                    as a loss; from the second in a row on, cwnd <- one packet
// with delay = RTT - base RTT, avg its average, n packets acknowledged, alpha target = `increase`,
// and achieved what was acknowledged in the last whole base RTT. The second line keeps a sender
// alive whose packets wait behind those of others.
//
// Source: Le et al., arXiv 2407.15266; uet-htsim `strack.cpp` for beta and max_mdf. The
// other constants are not published there; those of nscc, which grew out of it, are taken.
// Departure: marked and unmarked bytes of one acknowledgement are treated separately.
// Departure: paths are the load-balancing policy's.
// Departure: a loss that was none gives the window back; after four idle base RTTs the average
// starts anew and the window is at most the first one.
#pragma once

#include "datapath/api/congestion_control.h"

namespace weir {

class STrack final : public CongestionControl {
 public:
  struct Config {
    Duration target_delay{};  // 0: 0.75 base RTT
    double increase = 0;      // packets a round; 0: 4 BDP / 150 kB
    double guard = 0;         // packets a round; 0: BDP / 150 kB
    double beta = 0.8;
    double max_mdf = 0.5;
    double reset_delay = 2;  // targets
    double delay_gain = 0.0125;
    double initial_window = 1.0;  // BDPs
    double max_window = 1.5;      // BDPs
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::target_delay>("target_delay", 0, 1e9,
                                   "queueing delay to hold; 0: 0.75 base RTT",
                                   "as nscc: UEC 1.0 table 3-82"),
      Param<&Config::increase>("increase", 0, 10000,
                               "growth each round without delay, in packets; 0: 4 BDP / 150 kB",
                               "as nscc: UEC 1.0 table 3-82"),
      Param<&Config::guard>("guard", 0, 10000,
                            "growth each round of unmarked, late packets; 0: BDP / 150 kB",
                            "ours: a packet at 100 Gb/s and 12 us"),
      Param<&Config::beta>("beta", 0.01, 1, "cut in proportion to the excess delay",
                           "uet-htsim strack.cpp: 0.8"),
      Param<&Config::max_mdf>("max_mdf", 0.01, 0.99, "most of one cut",
                              "uet-htsim strack.cpp: 0.5"),
      Param<&Config::reset_delay>("reset_delay", 1, 100,
                                  "delay that resets the window to what was achieved, in targets",
                                  "uet-htsim strack.cpp: 2"),
      Param<&Config::delay_gain>("delay_gain", 0.0001, 1,
                                 "weight of one sample in the delay average",
                                 "as nscc: uet-htsim uec.cpp: 0.0125"),
      Param<&Config::initial_window>("initial_window", 0.01, 16, "first window, in BDPs",
                                     "ours: line-rate start of RDMA senders"),
      Param<&Config::max_window>("max_window", 0.1, 16, "largest window, in BDPs",
                                 "as nscc: UEC 1.0 table 3-82"),
  };
  static constexpr CounterSpec kCounters[] = {
      {"cuts", "multiplicative decreases, because of delay or loss"},
      {"resets", "windows reset to what was achieved"},
  };

  STrack(const FlowInfo& flow, const Config& config);

  void OnAck(const AckSample& ack) override;
  void OnLoss(const LossSample& loss) override;
  void OnSpurious(const SpuriousSample& spurious) override;
  void OnTimeout(const TimeoutSample& timeout) override;
  void OnResume(Time now, Duration idle) override;
  void Restore(const Snapshot& snapshot) override;
  Allowance allowance() const override { return {.window = window_}; }
  std::span<const uint64_t> counters() const override { return counters_; }

  double window() const { return cwnd_; }                  // packets
  double average_delay() const { return average_delay_; }  // nanoseconds
  double achieved() const { return achieved_; }            // packets; 0: not known

 private:
  void CountAchieved(Time now, double packets);
  void Increase(double packets, double delay);
  void Decrease(Time now, double delay);
  void Cut(Time now, double factor);
  void SetWindow(double packets);

  // From the flow and the configuration. Delays are nanoseconds, windows packets.
  double mtu_;
  double packets_per_byte_;
  Duration base_rtt_;
  double target_;
  double increase_;
  double guard_;
  double beta_;
  double max_mdf_;
  double reset_delay_;
  double delay_gain_;
  double max_window_;
  double initial_window_;

  double cwnd_ = 1;  // in [1, max_window_]
  Bytes window_;     // of cwnd_
  double average_delay_ = 0;
  double acked_ = 0;     // in the period that began at period_
  double achieved_ = 0;  // in the one before; 0: nothing
  Time period_{INT64_MIN / 2};
  Time last_cut_{INT64_MIN / 2};   // before all time, but not so far as to overflow
  double window_before_loss_ = 0;  // 0: no loss to undo
  uint64_t counters_[2] = {};
};

}  // namespace weir
