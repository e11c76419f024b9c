#include "cc_algos/swift.h"

#include <algorithm>

namespace weir {
namespace {

constexpr double ToNanos(Duration d) { return static_cast<double>(d.count()); }

}  // namespace

Swift::Swift(const FlowInfo& flow, const Config& config)
    : mtu_(static_cast<double>(flow.mtu.count())),
      packets_per_byte_(1 / mtu_),
      base_target_(config.base_target > Duration(0) ? ToNanos(config.base_target)
                                                    : 1.25 * ToNanos(flow.base_rtt)),
      scaling_(config.fs_range > Duration(0) ? ToNanos(config.fs_range) : 5 * base_target_,
               config.fs_min, config.fs_max),
      ai_(config.ai),
      beta_(config.beta),
      max_mdf_(config.max_mdf),
      initial_window_(std::max(Ratio(flow.bdp(), flow.mtu) * config.initial_window, 1.0)),
      min_window_(config.min_window),
      max_window_(std::max(Ratio(flow.bdp(), flow.mtu) * config.max_window, 1.0)),
      timeout_limit_(config.timeout_limit),
      stale_after_(4 * flow.base_rtt),
      rtt_(ToNanos(flow.base_rtt)),
      latest_rtt_(flow.base_rtt) {
  SetWindow(initial_window_);
}

void Swift::OnAck(const AckSample& ack) {
  if (ack.rtt <= Duration(0) || ack.host_stall) return;
  const double delay = ToNanos(ack.rtt);
  const double target_delay = target();
  rtt_ += (delay - rtt_) / 8;
  latest_rtt_ = ack.rtt;
  if (delay < target_delay) {
    const double growth = ai_ * static_cast<double>(ack.newly_acked.count()) * packets_per_byte_;
    SetWindow(cwnd_ + (cwnd_ >= 1 ? growth / cwnd_ : growth));
  } else if (ack.now - last_cut_ >= ack.rtt) {
    ++counters_[0];
    window_before_loss_ = 0;
    Cut(ack.now, std::max(1 - beta_ * (delay - target_delay) / delay, 1 - max_mdf_));
  }
}

void Swift::OnLoss(const LossSample& loss) {
  if (loss.now - last_cut_ < latest_rtt_) return;
  ++counters_[1];
  window_before_loss_ = cwnd_;
  Cut(loss.now, 1 - max_mdf_);
}

void Swift::OnSpurious(const SpuriousSample&) {
  SetWindow(std::max(cwnd_, window_before_loss_));
  window_before_loss_ = 0;
}

void Swift::OnTimeout(const TimeoutSample& timeout) {
  window_before_loss_ = 0;
  if (timeout.consecutive >= timeout_limit_) {
    ++counters_[1];
    SetWindow(min_window_);
  } else if (timeout.now - last_cut_ >= latest_rtt_) {
    ++counters_[1];
    Cut(timeout.now, 1 - max_mdf_);
  }
}

void Swift::OnResume(Time, Duration idle) {
  if (idle > stale_after_) SetWindow(std::min(cwnd_, initial_window_));
}

Snapshot Swift::snapshot() const {
  return {.window = allowance_.window, .rate = allowance_.rate, .smoothed_rtt = smoothed_rtt()};
}

void Swift::Restore(const Snapshot& snapshot) {
  if (snapshot.smoothed_rtt > Duration(0)) rtt_ = ToNanos(snapshot.smoothed_rtt);
  if (snapshot.window < Bytes::Max()) {
    SetWindow(static_cast<double>(snapshot.window.count()) * packets_per_byte_);
  }
}

double Swift::target() const { return base_target_ + scaling_.At(cwnd_); }

void Swift::Cut(Time now, double factor) {
  last_cut_ = now;
  SetWindow(cwnd_ * factor);
}

void Swift::SetWindow(double packets) {
  cwnd_ = std::clamp(packets, min_window_, max_window_);
  const double bytes = cwnd_ * mtu_;
  allowance_.window = Bytes(std::max(static_cast<int64_t>(bytes), int64_t{1}));
  allowance_.rate = Rate::Max();
  if (cwnd_ < 1) {  // one packet each rtt / cwnd
    const double bits_per_second = bytes * 8e9 / rtt_;
    allowance_.rate = Rate(std::max(static_cast<int64_t>(bits_per_second), int64_t{1}));
  }
}

}  // namespace weir
