// DCTCP: cut the window in proportion to the fraction of bytes that met a standing queue.
//
//   alpha <- (1 - g) alpha + g M      once a round; M = marked bytes / acknowledged bytes of it
//   cwnd  <- cwnd (1 - alpha / 2)     on a mark
//   cwnd  <- cwnd / 2                 on a loss
//   cwnd  <- cwnd + MTU               for each window acknowledged; doubled a round below ssthresh
//
// A cut answers for all that was in flight then: the next one waits until that is acknowledged or
// lost. (RFC 3168 section 6.1.2. The marks of one queue last a round trip, but not from the first
// to the last packet of one round: a cut in each round would answer them twice.)
//
// Source: RFC 8257 sections 3.3 to 3.5; RFC 5681 for growth and time-outs; Alizadeh et al.,
// SIGCOMM 2010.
// Departure: no delayed-acknowledgement state machine, because our receiver echoes every mark.
// Departure: starts at one BDP, as RDMA senders do, and slow start ends there: beyond it the path
// is full and doubling only fills queues.
// Departure: a connection limited by anything but its window does not grow (RFC 7661).
// Departure: after four idle base RTTs the window falls back to the initial one, if larger; TCP
// uses the restart window of RFC 5681 after one time-out.
#pragma once

#include "datapath/api/congestion_control.h"

namespace weir {

class Dctcp final : public CongestionControl {
 public:
  struct Config {
    double gain = 1.0 / 16;       // g
    double initial_window = 1.0;  // BDPs
    double min_window = 2.0;      // packets
    double increase = 1.0;        // packets a round
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::gain>("gain", 0.001, 1, "weight g of one round in alpha",
                           "RFC 8257 section 4.2: 1/16"),
      Param<&Config::initial_window>("initial_window", 0.01, 16, "first window, in BDPs",
                                     "ours: line-rate start of RDMA senders"),
      Param<&Config::min_window>("min_window", 1, 64, "smallest window, in packets",
                                 "Linux tcp_dctcp.c: 2"),
      Param<&Config::increase>("increase", 0.01, 64, "growth each round, in packets",
                               "RFC 5681 section 3.1: 1"),
  };
  static constexpr CounterSpec kCounters[] = {
      {"mark_cuts", "windows cut because of a mark"},
      {"loss_cuts", "windows halved because of a loss"},
  };

  Dctcp(const FlowInfo& flow, const Config& config);

  void OnAck(const AckSample& ack) override;
  void OnLoss(const LossSample& loss) override;
  void OnSpurious(const SpuriousSample& spurious) override;
  void OnTimeout(const TimeoutSample& timeout) override;
  void OnResume(Time now, Duration idle) override;
  void Restore(const Snapshot& snapshot) override;
  Allowance allowance() const override { return {.window = cwnd_}; }
  std::span<const uint64_t> counters() const override { return counters_; }

  double alpha() const { return alpha_; }

 private:
  void StartRound(int64_t round);
  void Grow(const AckSample& ack);
  bool SentBeforeCut(Bytes n);  // `n` are acknowledged or lost: does the last cut answer for them?
  void Cut(double factor, Bytes in_flight);

  // From the flow and the configuration.
  double gain_;
  Bytes initial_window_;
  Bytes min_window_;
  Bytes increase_;
  Duration stale_after_;

  Bytes cwnd_;
  Bytes ssthresh_;
  double alpha_ = 1.0;
  // Of the current round.
  int64_t round_ = 0;
  Bytes acked_{};
  Bytes marked_{};

  Bytes sent_before_cut_{};     // in flight at the last cut and not yet accounted for
  Bytes grown_by_{};            // acknowledged since the window last grew; below cwnd_
  Bytes window_before_loss_{};  // 0: no loss to undo
  uint64_t counters_[2] = {};
};

}  // namespace weir
