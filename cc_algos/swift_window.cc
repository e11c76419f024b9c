#include "cc_algos/swift_window.h"

#include <algorithm>

namespace weir {
namespace {

constexpr double ToNanos(Duration d) { return static_cast<double>(d.count()); }

}  // namespace

SwiftWindow::SwiftWindow(const FlowInfo& flow, const Config& config)
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
      cwnd_(initial()),
      rtt_(ToNanos(flow.base_rtt)),
      latest_rtt_(flow.base_rtt) {}

bool SwiftWindow::OnAck(const AckSample& ack) {
  const double delay = ToNanos(ack.rtt);
  const double target_delay = target();
  rtt_ += (delay - rtt_) / 8;
  latest_rtt_ = ack.rtt;
  if (delay < target_delay) {
    const double growth = ai_ * static_cast<double>(ack.newly_acked.count()) * packets_per_byte_;
    cwnd_ = Clamped(cwnd_ + (cwnd_ >= 1 ? growth / cwnd_ : growth));
    return true;
  }
  if (ack.now - last_cut_ < ack.rtt) return false;
  ++delay_cuts_;
  before_loss_ = 0;
  Cut(ack.now, std::max(1 - beta_ * (delay - target_delay) / delay, 1 - max_mdf_));
  return true;
}

bool SwiftWindow::OnLoss(const LossSample& loss) {
  if (loss.now - last_cut_ < latest_rtt_) return false;
  ++loss_cuts_;
  before_loss_ = cwnd_;
  Cut(loss.now, 1 - max_mdf_);
  return true;
}

void SwiftWindow::OnSpurious() {
  cwnd_ = std::max(cwnd_, before_loss_);
  before_loss_ = 0;
}

bool SwiftWindow::OnTimeout(const TimeoutSample& timeout) {
  before_loss_ = 0;
  const bool reset = timeout.consecutive >= timeout_limit_;
  if (!reset && timeout.now - last_cut_ < latest_rtt_) return false;
  ++loss_cuts_;
  if (reset) {
    cwnd_ = min_window_;
  } else {
    Cut(timeout.now, 1 - max_mdf_);
  }
  return true;
}

bool SwiftWindow::OnResume(Duration idle) {
  if (idle <= stale_after_) return false;
  cwnd_ = std::min(cwnd_, initial());
  return true;
}

void SwiftWindow::Restore(const Snapshot& snapshot) {
  if (snapshot.smoothed_rtt > Duration(0)) rtt_ = ToNanos(snapshot.smoothed_rtt);
  if (snapshot.window < Bytes::Max()) cwnd_ = Clamped(FromBytes(snapshot.window));
}

double SwiftWindow::Clamped(double packets) const {
  return std::clamp(packets, min_window_, max_window_);
}

Allowance SwiftWindow::AllowanceOf(double packets) const {
  const double bytes = packets * mtu_;
  Allowance allowance{.window = Bytes(std::max(static_cast<int64_t>(bytes), int64_t{1}))};
  if (packets < 1) {
    const double bits_per_second = bytes * 8e9 / rtt_;
    allowance.rate = Rate(std::max(static_cast<int64_t>(bits_per_second), int64_t{1}));
  }
  return allowance;
}

void SwiftWindow::Cut(Time now, double factor) {
  last_cut_ = now;
  cwnd_ = Clamped(cwnd_ * factor);
}

}  // namespace weir
