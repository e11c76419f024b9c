// DCQCN: cut the rate on a congestion notification, then climb back to the rate before it.
//
// Paper form, RC the current and RT the target rate:
//   on a CNP:     RT <- RC;  RC <- RC (1 - alpha/2);  alpha <- (1-g) alpha + g;  T = B = 0
//   each alpha period without CNP:                    alpha <- (1-g) alpha
//   on expiry of the increase timer (T) or after each `byte_counter` bytes (B):
//     max(T, B) <= F   fast recovery:   RT unchanged
//     min(T, B) >  F   hyper increase:  RT <- RT + (min(T, B) - F) R_HAI
//     otherwise        additive:        RT <- RT + R_AI
//     then RC <- (RT + RC)/2
//
// NVIDIA form, as adapters run it: the timer alone counts steps S = 0, 1, ..
//   S < F fast recovery, S = F additive, S > F hyper increase by R_HAI; then RC <- (RT + RC)/2
//   the first CNP sets alpha = 1 and may scale the rate; later ones are looked at once each
//   `decrease_period`:  RC <- RC max(1 - alpha/2, min_dec_factor), S = 0, and RT <- old RC only if
//   a step ran since the last cut (always with `clamp_target`)
//   each alpha period:  alpha <- (1-g) alpha + g [a CNP came in it]
//
// Source: Zhu et al., SIGCOMM 2015, section 3; the authors' ns-3 configuration for R_HAI. NVIDIA
// form: `rdma-hw.cc` of High-Precision-Congestion-Control; NVIDIA DCQCN parameter documentation.
// Departure: alpha is brought up to date when it is used, not by a timer; the result is the same.
// Departure: a step needs an acknowledgement since the last one, because without lossless links
// "no CNP" also means that everything was lost; this also lets idle connections sleep.
// Departure: a time-out counts as a CNP, for the same reason.
// Departure: an optional window, `window_bdps`, bounds what a line-rate start can queue.
// Departure: R_AI and R_HAI are fractions of the line rate, so that the same file fits any speed.
#pragma once

#include <algorithm>

#include "datapath/api/congestion_control.h"

namespace weir {

class Dcqcn final : public CongestionControl {
 public:
  struct Config {  // 0 in a field marked (form): the value of the form
    bool nvidia_form = false;
    double gain = 0;                       // g (form): 1/256; 5/1024
    Duration cnp_interval{};               // (form): 50 us; 4 us
    Duration alpha_period{};               // (form): 55 us; 1 us
    Duration increase_timer{};             // (form): 55 us; 300 us
    int64_t recovery_steps = 0;            // F (form): 5; 1
    double ai_fraction = 0;                // R_AI / line rate (form): 1/1000; 1/5000
    double hai_fraction = 0;               // R_HAI / line rate (form): 1/200; 1/500
    Rate min_rate{};                       // (form): 10 Mb/s; 1 Mb/s
    double window_bdps = 0;                // 0: no window
    Bytes byte_counter{10'000'000};        // paper form only
    Duration decrease_period = Micros(4);  // NVIDIA form only, to the end
    double min_dec_factor = 0.5;
    double first_cnp_factor = 1.0;
    bool clamp_target = false;
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::nvidia_form>("nvidia_form", 0, 1, "as adapters run it, not as in the paper",
                                  "ours: the paper is the reference"),
      Param<&Config::gain>("gain", 0, 1, "weight g of one step in alpha; 0: 1/256 or 5/1024",
                           "SIGCOMM 2015 section 5; DCE_TCP_G 1019"),
      Param<&Config::cnp_interval>("cnp_interval", 0, 1e6,
                                   "least time between two CNPs; 0: 50 us or 4 us",
                                   "SIGCOMM 2015 section 3; MIN_TIME_BETWEEN_CNPS"),
      Param<&Config::alpha_period>("alpha_period", 0, 1e9, "alpha timer; 0: 55 us or 1 us",
                                   "SIGCOMM 2015 section 5; DCE_TCP_RTT 1"),
      Param<&Config::increase_timer>("increase_timer", 0, 1e9,
                                     "time of an increase step; 0: 55 us or 300 us",
                                     "SIGCOMM 2015 section 5; RPG_TIME_RESET 300"),
      Param<&Config::recovery_steps>("recovery_steps", 0, 100,
                                     "steps F of fast recovery; 0: 5 or 1",
                                     "SIGCOMM 2015 section 3; RPG_THRESHOLD 1"),
      Param<&Config::ai_fraction>("ai_fraction", 0, 1,
                                  "R_AI as a fraction of the line rate; 0: 1/1000 or 1/5000",
                                  "SIGCOMM 2015: 40 Mb/s at 40 Gb/s; RPG_AI_RATE 5 at 25 Gb/s"),
      Param<&Config::hai_fraction>("hai_fraction", 0, 1,
                                   "R_HAI as a fraction of the line rate; 0: 1/200 or 1/500",
                                   "ns3-rdma: 200 Mb/s at 40 Gb/s; RPG_HAI_RATE 50 at 25 Gb/s"),
      Param<&Config::min_rate>("min_rate", 0, 1e12, "smallest rate; 0: 10 Mb/s or 1 Mb/s",
                               "ours; RPG_MIN_RATE 1"),
      Param<&Config::window_bdps>("window_bdps", 0, 16, "window, in BDPs; 0: none",
                                  "SIGCOMM 2015: none"),
      Param<&Config::byte_counter>("byte_counter", 1, 1e9, "bytes of an increase step (paper form)",
                                   "SIGCOMM 2015 section 5: 10 MB"),
      Param<&Config::decrease_period>("decrease_period", 1, 1e9,
                                      "time between looks for a CNP (NVIDIA form)",
                                      "RATE_REDUCE_MONITOR_PERIOD 4"),
      Param<&Config::min_dec_factor>("min_dec_factor", 0.01, 1,
                                     "most of a cut, as a factor (NVIDIA form)",
                                     "RPG_MIN_DEC_FAC 50 %"),
      Param<&Config::first_cnp_factor>("first_cnp_factor", 0.001, 1,
                                       "factor of the first CNP (NVIDIA form)",
                                       "RATE_TO_SET_ON_FIRST_CNP 0: off"),
      Param<&Config::clamp_target>(
          "clamp_target", 0, 1, "each cut moves the target too (NVIDIA form)", "CLAMP_TGT_RATE 0"),
  };
  static constexpr CounterSpec kCounters[] = {
      {"cuts", "times the rate was cut"},
      {"steps", "increase steps"},
  };

  Dcqcn(const FlowInfo& flow, const Config& config);
  static ReceiverDuty Duty(const FlowInfo& flow, const Config& config);

  void OnSend(const SendSample& send) override;
  void OnAck(const AckSample& ack) override;
  void OnTimeout(const TimeoutSample& timeout) override;
  void OnCnp(Time now) override;
  void OnTimer(Time now) override;
  void Restore(const Snapshot& snapshot) override;
  Time timer() const override { return std::min(increase_due_, decrease_due_); }
  Allowance allowance() const override { return {.window = window_, .rate = rate_}; }
  std::span<const uint64_t> counters() const override { return counters_; }

  Rate target() const { return target_; }
  double AlphaAt(Time now);  // brings alpha up to `now`, which never goes back

 private:
  void FirstCnp(Time now);
  void Cut(Time now, double factor, bool move_target);
  void TimerStep(Time now);
  void PaperStep();
  void NvidiaStep();
  void Recover();

  // From the flow and the configuration.
  bool nvidia_;
  bool clamp_target_;
  double gain_;
  double min_dec_factor_;
  double first_cnp_factor_;
  int64_t recovery_steps_;
  Duration alpha_period_;
  Duration increase_timer_;
  Duration decrease_period_;
  Bytes byte_counter_;
  Bytes window_;
  Rate ai_;
  Rate hai_;
  Rate line_rate_;
  Rate min_rate_;
  Duration base_rtt_;

  Rate rate_;    // RC, in [min_rate_, line_rate_]
  Rate target_;  // RT, likewise
  double alpha_ = 1.0;
  Time alpha_at_{};             // when alpha_ was last brought up to date
  bool cnp_in_period_ = false;  // NVIDIA form: came since alpha_at_
  bool seen_cnp_ = false;       // the alpha timer runs from the first CNP on
  Time first_cnp_{};            // NVIDIA form: the looks for a CNP are whole periods after it

  int64_t timer_steps_ = 0;       // T, since the last cut
  int64_t byte_steps_ = 0;        // B, since the last cut
  Bytes sent_{};                  // since the last byte step; below byte_counter_
  bool acked_for_timer_ = false;  // something was acknowledged since the last timer step
  bool acked_for_bytes_ = false;  // .. since the last byte step
  Time increase_due_ = Time::Never();
  Time decrease_due_ = Time::Never();  // NVIDIA form: a CNP waits for this look
  uint64_t counters_[2] = {};
};

}  // namespace weir
