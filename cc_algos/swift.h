// Swift: keep the delay of each packet near a target that grows as the window shrinks.
//
//   target = base_target + min(max(fs_alpha / sqrt(cwnd) + fs_beta, 0), fs_range)
//     fs_alpha = fs_range / (1/sqrt(fs_min) - 1/sqrt(fs_max)),  fs_beta = -fs_alpha / sqrt(fs_max)
//   delay < target:   cwnd <- cwnd + ai n / cwnd           (+ ai n below one packet)
//   otherwise:        cwnd <- cwnd max(1 - beta (delay - target)/delay, 1 - max_mdf)
//   a loss:           cwnd <- cwnd (1 - max_mdf)           both only if now - last cut >= rtt
//   a time-out:       as a loss; from the `timeout_limit`th in a row on, cwnd <- min_window
//   cwnd < 1:         one packet each rtt / cwnd
// with cwnd in packets and n packets acknowledged.
//
// Source: Kumar et al., SIGCOMM 2020, section 3; Falcon transport specification 0.9, section 10.3,
// for the parameters; uet-htsim `swift.cpp` for the values the paper does not publish.
// Departure: no endpoint window, because our delay sample excludes the receiver's holding time and
// samples taken while our own host stalled are skipped.
// Departure: no term for each hop; base_rtt is that of the connection's own path.
// Departure: base_target and fs_range are multiples of base_rtt, not constants, because 25 us and
// 125 us are hundreds of kilobytes of queue on a fast, short fabric.
// Departure: after four idle base RTTs the window falls back to the initial one, if larger.
#pragma once

#include "cc_algos/swift_window.h"
#include "datapath/api/congestion_control.h"

namespace weir {

class Swift final : public CongestionControl {
 public:
  struct Config {
    Duration base_target{};  // 0: 1.25 base RTT
    Duration fs_range{};     // 0: 5 base targets
    double fs_min = 0.1;     // packets, below fs_max
    double fs_max = 100;     // packets
    double ai = 1.0;         // packets an RTT
    double beta = 0.8;
    double max_mdf = 0.5;
    double initial_window = 1.0;  // BDPs
    double min_window = 0.01;     // packets
    double max_window = 4.0;      // BDPs
    int64_t timeout_limit = 5;
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::base_target>("base_target", 0, 1e9,
                                  "delay target of a large window; 0: 1.25 base RTT",
                                  "SIRD artifact; ours: as a multiple"),
      Param<&Config::fs_range>("fs_range", 0, 1e9, "most that flow scaling adds; 0: 5 base targets",
                               "uet-htsim swift.cpp: 5 base"),
      Param<&Config::fs_min>("fs_min", 0.001, 1, "window where flow scaling is largest, in packets",
                             "uet-htsim swift.cpp: 0.1"),
      Param<&Config::fs_max>("fs_max", 2, 10000, "window where flow scaling ends, in packets",
                             "uet-htsim swift.cpp: 100"),
      Param<&Config::ai>("ai", 0.01, 64, "growth each RTT, in packets", "uet-htsim swift.cpp: 1"),
      Param<&Config::beta>("beta", 0.01, 1, "cut in proportion to the excess delay",
                           "uet-htsim swift.cpp: 0.8"),
      Param<&Config::max_mdf>("max_mdf", 0.01, 0.99, "most of one cut", "uet-htsim swift.cpp: 0.5"),
      Param<&Config::initial_window>("initial_window", 0.01, 16, "first window, in BDPs",
                                     "ours: line-rate start of RDMA senders"),
      Param<&Config::min_window>("min_window", 0.001, 1, "smallest window, in packets",
                                 "ours: 100 senders a packet of fair share"),
      Param<&Config::max_window>("max_window", 1, 16, "largest window, in BDPs",
                                 "ours: above the target of any window"),
      Param<&Config::timeout_limit>("timeout_limit", 1, 100,
                                    "time-outs in a row that reset the window",
                                    "uet-htsim swift.cpp: 5"),
  };
  static constexpr CounterSpec kCounters[] = {
      {"delay_cuts", "windows cut because of delay"},
      {"loss_cuts", "windows cut because of a loss or a time-out"},
  };

  Swift(const FlowInfo& flow, const Config& config);

  void OnAck(const AckSample& ack) override;
  void OnLoss(const LossSample& loss) override;
  void OnSpurious(const SpuriousSample& spurious) override;
  void OnTimeout(const TimeoutSample& timeout) override;
  void OnResume(Time now, Duration idle) override;
  Snapshot snapshot() const override;
  void Restore(const Snapshot& snapshot) override;
  Allowance allowance() const override { return allowance_; }
  std::span<const uint64_t> counters() const override { return counters_; }

  double window() const { return window_.packets(); }
  double target() const { return window_.target(); }  // nanoseconds

 private:
  void Refresh();

  SwiftWindow window_;
  Allowance allowance_;  // of it
  uint64_t counters_[2] = {};
};

}  // namespace weir
