// The window law of Swift, in packets; swift.h has the equations. falcon follows it with its window
// of the fabric.
#pragma once

#include "cc_algos/flow_scaling.h"
#include "datapath/api/congestion_control.h"

namespace weir {

class SwiftWindow {
 public:
  // Of both algorithms' parameters, by the same names.
  struct Config {
    Duration base_target{};
    Duration fs_range{};
    double fs_min = 0;
    double fs_max = 0;
    double ai = 0;
    double beta = 0;
    double max_mdf = 0;
    double initial_window = 0;
    double min_window = 0;
    double max_window = 0;
    int64_t timeout_limit = 0;
  };
  template <class Algorithm>
  static Config Of(const Algorithm& c) {
    return {.base_target = c.base_target,
            .fs_range = c.fs_range,
            .fs_min = c.fs_min,
            .fs_max = c.fs_max,
            .ai = c.ai,
            .beta = c.beta,
            .max_mdf = c.max_mdf,
            .initial_window = c.initial_window,
            .min_window = c.min_window,
            .max_window = c.max_window,
            .timeout_limit = c.timeout_limit};
  }

  SwiftWindow(const FlowInfo& flow, const Config& config);

  // Each returns whether the window was set anew. `ack.rtt` > 0, and no host stall.
  bool OnAck(const AckSample& ack);
  bool OnLoss(const LossSample& loss);
  void OnSpurious();  // it was
  bool OnTimeout(const TimeoutSample& timeout);
  bool OnResume(Duration idle);
  void Restore(const Snapshot& snapshot);

  double packets() const { return cwnd_; }                             // in its limits
  double target() const { return base_target_ + scaling_.At(cwnd_); }  // nanoseconds
  Duration latest_rtt() const { return latest_rtt_; }
  Duration smoothed_rtt() const { return Duration(static_cast<int64_t>(rtt_)); }
  double initial() const { return Clamped(initial_window_); }
  double Clamped(double packets) const;
  double FromBytes(Bytes bytes) const {
    return static_cast<double>(bytes.count()) * packets_per_byte_;
  }
  // Of a window of so many packets: below one they are spaced out, one each rtt / window.
  Allowance AllowanceOf(double packets) const;

  uint64_t delay_cuts() const { return delay_cuts_; }
  uint64_t loss_cuts() const { return loss_cuts_; }

 private:
  void Cut(Time now, double factor);

  // From the flow and the configuration. Delays are nanoseconds, windows packets.
  double mtu_;
  double packets_per_byte_;
  double base_target_;
  FlowScaling scaling_;
  double ai_;
  double beta_;
  double max_mdf_;
  double initial_window_;
  double min_window_;
  double max_window_;
  int64_t timeout_limit_;
  Duration stale_after_;

  double cwnd_;  // in [min_window_, max_window_]
  double rtt_;   // smoothed by 1/8
  Duration latest_rtt_;
  double before_loss_ = 0;        // 0: no loss to undo
  Time last_cut_{INT64_MIN / 2};  // before all time, but not so far as to overflow
  uint64_t delay_cuts_ = 0;
  uint64_t loss_cuts_ = 0;
};

}  // namespace weir
