// TIMELY: raise the rate while the RTT falls and cut it by how fast the RTT rises.
//
//   diff <- (1 - gain) diff + gain (rtt - rtt_before),   g = diff / base RTT
//   rtt < t_low:    R <- R + delta
//   rtt > t_high:   R <- R (1 - beta (1 - t_high / rtt))
//   g <= 0:         R <- R + n delta          n = hai_factor from the hai_after-th such sample in a
//   g > 0:          R <- R (1 - beta g)       row on, else 1
//
// Source: Mittal et al., SIGCOMM 2015, algorithm 1; `timely.h` of eRPC for the least factor of one
// update, 1/2; `rdma-hw.cc` of High-Precision-Congestion-Control for gain.
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

class Timely final : public CongestionControl {
 public:
  struct Config {
    Duration t_low{};      // 0: 1.5 base RTT
    Duration t_high{};     // 0: 5 base RTT
    double delta = 0.001;  // of the line rate
    double beta = 0.8;
    double gain = 0.875;
    int64_t hai_after = 5;
    double hai_factor = 5;
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
      Param<&Config::beta>("beta", 0.01, 1, "cut for a given gradient", "SIGCOMM 2015: 0.8"),
      Param<&Config::gain>("gain", 0.01, 1, "weight of one difference",
                           "HPCC artifact, rdma-hw.cc: 0.875"),
      Param<&Config::hai_after>("hai_after", 1, 1000,
                                "samples without a rise before hyper increase", "SIGCOMM 2015: 5"),
      Param<&Config::hai_factor>("hai_factor", 1, 100, "hyper increase, in deltas",
                                 "SIGCOMM 2015: 5"),
      Param<&Config::min_rate>("min_rate", 0.000001, 1, "smallest rate, in line rates",
                               "ours: a thousand senders"),
      Param<&Config::loss_cut>("loss_cut", 0.01, 0.99, "part of the rate that a loss takes",
                               "RFC 5681 section 3.1: 1/2"),
      Param<&Config::window_bdps>("window_bdps", 0, 64, "bytes in flight, in BDPs; 0: no window",
                                  "ours; SIGCOMM 2015: none"),
  };

  Timely(const FlowInfo& flow, const Config& config);

  void OnAck(const AckSample& ack) override;
  void OnLoss(const LossSample& loss) override { rate_.OnLoss(loss); }
  void OnSpurious(const SpuriousSample&) override { rate_.OnSpurious(); }
  void OnTimeout(const TimeoutSample&) override { rate_.OnTimeout(); }
  void OnResume(Time now, Duration idle) override;
  void Restore(const Snapshot& snapshot) override { rate_.Restore(snapshot); }
  Allowance allowance() const override { return rate_.allowance(); }

  double gradient() const { return rate_.gradient(); }

 private:
  // From the configuration.
  double beta_;
  int64_t hai_after_;
  double hai_factor_;

  GradientRate rate_;
  int64_t without_rise_ = 0;  // samples in a row whose gradient was not positive
};

}  // namespace weir
