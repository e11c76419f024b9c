// Patched TIMELY: TIMELY whose rate follows the RTT itself, and its gradient only softly.
//
//   diff <- (1 - gain) diff + gain (rtt - rtt_before),   g = diff / base RTT
//   rtt < t_low:    R <- R + delta
//   rtt > t_high:   R <- R (1 - beta_high (1 - t_high / rtt))
//   otherwise:      R <- delta (1 - w) + R (1 - beta w (rtt - t_low) / t_low)
//                     w = 0 for g <= -1/4, 2 g + 1/2 between, 1 for g >= 1/4
//
// N senders end at equal rates and rtt = t_low (1 + N delta / (beta C)), where TIMELY has no single
// fixed point.
//
// Source: Zhu, Ghobadi, Misra, Padhye, CoNEXT 2016; `timely.h` of eRPC for the form of
// w and the least factor of one update, 1/2; Mittal et al., SIGCOMM 2015, for the rest.
// Departure: a sample is an acknowledgement, each 16 KiB as the smallest segments of the source; as
// in eRPC, one that comes before a base RTT has passed counts for that part of one: delta and beta
// are multiplied by it.
// Departure: t_low and t_high are multiples of base RTT, because 50 us and 500 us are hundreds of
// kilobytes of queue on a fast, short fabric.
// Departure: a loss takes `loss_cut` of the rate once a round, and so does each time-out. The
// source is made for networks without losses. Departure: 1.5 BDPs in flight at most. Without a
// window the rates of a line-rate start fall only when tens of BDPs are queued, and then too far.
// Departure: after four idle base RTTs there is no gradient until two new samples have come.
#pragma once

#include "cc_algos/gradient_rate.h"
#include "datapath/api/congestion_control.h"

namespace weir {

class TimelyPatched final : public CongestionControl {
 public:
  struct Config {
    Duration t_low{};      // 0: 1.5 base RTT
    Duration t_high{};     // 0: 5 base RTT
    double delta = 0.001;  // of the line rate
    double beta = 0.04;
    double beta_high = 0.8;
    double gain = 0.875;
    double min_rate = 0.001;  // of the line rate
    double loss_cut = 0.5;
    double window_bdps = 1.5;  // 0: none
  };
  static constexpr const char* kOnePathBecause =
      "the difference of two paths looks like a queue that grows";
  static constexpr ParamSpec kParams[] = {
      Param<&Config::t_low>("t_low", 0, 1e9, "RTT below which the rate rises; 0: 1.5 base RTT",
                            "SIGCOMM 2015: 50 us; ours: as a multiple"),
      Param<&Config::t_high>("t_high", 0, 1e9, "RTT above which the rate falls; 0: 5 base RTT",
                             "SIGCOMM 2015: 500 us; ours: as a multiple"),
      Param<&Config::delta>("delta", 0.000001, 0.1, "increase, in line rates",
                            "SIGCOMM 2015: 10 Mb/s of 10 Gb/s"),
      Param<&Config::beta>("beta", 0.0001, 1, "cut for an RTT of twice t_low",
                           "ours: 40 senders double t_low; CoNEXT 2016: 0.008, so 8"),
      Param<&Config::beta_high>("beta_high", 0.01, 1,
                                "cut above t_high, in proportion to the excess",
                                "SIGCOMM 2015: 0.8"),
      Param<&Config::gain>("gain", 0.01, 1, "weight of one difference",
                           "HPCC artifact, rdma-hw.cc: 0.875"),
      Param<&Config::min_rate>("min_rate", 0.000001, 1, "smallest rate, in line rates",
                               "ours: a thousand senders"),
      Param<&Config::loss_cut>("loss_cut", 0.01, 0.99, "part of the rate that a loss takes",
                               "RFC 5681 section 3.1: 1/2"),
      Param<&Config::window_bdps>("window_bdps", 0, 64, "bytes in flight, in BDPs; 0: no window",
                                  "ours; CoNEXT 2016: none"),
  };

  TimelyPatched(const FlowInfo& flow, const Config& config);

  void OnAck(const AckSample& ack) override;
  void OnLoss(const LossSample& loss) override { rate_.OnLoss(loss); }
  void OnSpurious(const SpuriousSample&) override { rate_.OnSpurious(); }
  void OnTimeout(const TimeoutSample&) override { rate_.OnTimeout(); }
  void OnResume(Time, Duration idle) override { rate_.OnResume(idle); }
  void Restore(const Snapshot& snapshot) override { rate_.Restore(snapshot); }
  Allowance allowance() const override { return rate_.allowance(); }

  double gradient() const { return rate_.gradient(); }

 private:
  // From the configuration.
  double beta_;

  GradientRate rate_;
};

}  // namespace weir
