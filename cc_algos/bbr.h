// BBR-like: send at the rate at which data was delivered, and keep twice what that needs in flight.
//
//   bw      = the largest delivered / duration of the last `bw_rounds` rounds
//   min_rtt = the smallest RTT of the last `rtt_interval` base RTTs; base RTT at the start
//   rate = pacing gain bw,   window = window gain bw min_rtt, at least `min_window`
//
//   startup:          both gains `startup_gain`, until bw grew by less than 1/4 in each of three
//                     rounds
//   drain:            pacing gain 1 / `startup_gain`, until at most bw min_rtt is in flight
//   probe bandwidth:  window gain `window_gain`; pacing gains g, 2 - g, 1, 1, 1, 1, 1, 1 in turn,
//                     g = `probe_gain`, a min_rtt each; the first lasts until g bw min_rtt is in
//                     flight or something is lost, the second ends when bw min_rtt is
//   probe RTT:        once min_rtt was not seen for `rtt_interval`: `min_window` for `rtt_time`
//
// A round in which the application had nothing to send counts only if it raises bw.
//
// Source: Cardwell et al., ACM Queue 14(5), 2016; draft-cardwell-iccrg-bbr-congestion-control-00.
// Departure: delivery rates are those of whole rounds, not of packets, and at most the line rate.
// Departure: the RTT is probed after 1000 base RTTs for 20, not after 10 s for 200 ms.
// Departure: starts with one BDP at line rate, as RDMA senders do, until a round was measured, and
// again after four idle base RTTs.
// Departure: a time-out leaves `min_window` until a round ends. Other losses change nothing, as in
// the source; it has no recovery state.
#pragma once

#include <array>

#include "datapath/api/congestion_control.h"

namespace weir {

class Bbr final : public CongestionControl {
 public:
  static constexpr size_t kRoundsMax = 16;
  struct Config {
    double startup_gain = 2.885;
    double window_gain = 2.0;
    double probe_gain = 1.25;
    int64_t bw_rounds = 10;
    double rtt_interval = 1000;   // base RTTs
    double rtt_time = 20;         // base RTTs
    double min_window = 4;        // packets
    double initial_window = 1.0;  // BDPs
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::startup_gain>("startup_gain", 1.01, 8, "gains of startup",
                                   "ACM Queue 2016: 2 / ln 2"),
      Param<&Config::window_gain>("window_gain", 1, 8, "window, in delivery rates times min_rtt",
                                  "ACM Queue 2016: 2"),
      Param<&Config::probe_gain>("probe_gain", 1.01, 1.99, "pacing gain that probes for bandwidth",
                                 "ACM Queue 2016: 5/4"),
      Param<&Config::bw_rounds>("bw_rounds", 1, static_cast<double>(kRoundsMax),
                                "rounds of which the largest delivery rate counts",
                                "ACM Queue 2016: 6 to 10"),
      Param<&Config::rtt_interval>("rtt_interval", 1, 1e6,
                                   "base RTTs after which the smallest RTT is out of date",
                                   "ours; ACM Queue 2016: 10 s"),
      Param<&Config::rtt_time>("rtt_time", 0.1, 1000, "base RTTs for which the RTT is probed",
                               "ours; ACM Queue 2016: 200 ms"),
      Param<&Config::min_window>("min_window", 1, 64, "smallest window, in packets",
                                 "ACM Queue 2016: 4"),
      Param<&Config::initial_window>("initial_window", 0.01, 16, "first window, in BDPs",
                                     "ours: line-rate start of RDMA senders"),
  };
  static constexpr CounterSpec kCounters[] = {
      {"rtt_probes", "times the window was made small to see the empty path"},
      {"limited_rounds", "rounds that were not measured, as the application limited them"},
  };

  Bbr(const FlowInfo& flow, const Config& config);

  void OnAck(const AckSample& ack) override;
  void OnLoss(const LossSample&) override { lost_in_phase_ = true; }
  void OnTimeout(const TimeoutSample& timeout) override;
  void OnResume(Time now, Duration idle) override;
  Snapshot snapshot() const override;
  void Restore(const Snapshot& snapshot) override;
  Allowance allowance() const override { return allowance_; }
  std::span<const uint64_t> counters() const override { return counters_; }

  enum class State : uint8_t { kStartup, kDrain, kProbeBandwidth, kProbeRtt };
  State state() const { return state_; }
  double bandwidth() const { return bandwidth_; }  // bytes a nanosecond; 0: not measured
  Duration min_rtt() const { return min_rtt_; }
  double pacing_gain() const;

 private:
  double Bdp() const;  // bw min_rtt, bytes
  void SeeRtt(Time now, Duration rtt);
  void EndRound(Time now);
  void KeepRate(double rate);
  void LookForFullPipe();
  void Advance(const AckSample& ack);
  void AdvanceCycle(const AckSample& ack);
  void LeaveProbeRtt(Time now);
  void StartCycle(Time now);
  void SetAllowance();

  // From the flow and the configuration.
  double startup_gain_;
  double window_gain_;
  double probe_gain_;
  size_t bw_rounds_;
  Duration rtt_interval_;
  Duration rtt_time_;
  Duration stale_after_;
  double line_rate_;  // bytes a nanosecond
  Bytes min_window_;
  Bytes first_window_;
  uint64_t seed_;

  State state_ = State::kStartup;
  // Delivery rates, of the last rounds measured.
  std::array<double, kRoundsMax> rates_{};
  size_t rates_seen_ = 0;
  double bandwidth_ = 0;
  // The present round.
  int64_t round_ = 0;
  Time round_start_ = Time::Never();  // never: no round has begun
  Bytes delivered_{};
  bool limited_ = false;  // by the application, at some moment of it
  bool timed_out_ = false;
  // Startup: the delivery rate that a quarter more would exceed, and rounds since it was reached.
  double full_rate_ = 0;
  int full_rounds_ = 0;
  bool pipe_full_ = false;
  // Probing for bandwidth.
  uint32_t phase_ = 0;
  Time phase_start_{};
  bool lost_in_phase_ = false;
  // The smallest RTT, and probing for it.
  Duration min_rtt_;
  Time min_rtt_at_ = Time::Never();  // never: none was seen
  Time probe_end_ = Time::Never();   // never: too much is in flight
  Allowance allowance_;
  uint64_t counters_[2] = {};
};

}  // namespace weir
