#include "cc_algos/falcon.h"

#include <algorithm>

namespace weir {
namespace {

constexpr double ToNanos(Duration d) { return static_cast<double>(d.count()); }

}  // namespace

Falcon::Falcon(const FlowInfo& flow, const Config& config)
    : mtu_(static_cast<double>(flow.mtu.count())),
      packets_per_byte_(1 / mtu_),
      base_target_(config.base_target > Duration(0) ? ToNanos(config.base_target)
                                                    : 1.25 * ToNanos(flow.base_rtt)),
      scaling_(config.fs_range > Duration(0) ? ToNanos(config.fs_range) : 5 * base_target_,
               config.fs_min, config.fs_max),
      ai_(config.ai),
      beta_(config.beta),
      max_mdf_(config.max_mdf),
      nic_target_(static_cast<double>(config.nic_target)),
      nic_ai_(config.nic_ai),
      nic_max_mdf_(config.nic_max_mdf),
      initial_window_(std::max(Ratio(flow.bdp(), flow.mtu) * config.initial_window, 1.0)),
      min_window_(config.min_window),
      max_window_(std::max(Ratio(flow.bdp(), flow.mtu) * config.max_window, 1.0)),
      timeout_limit_(config.timeout_limit),
      stale_after_(4 * flow.base_rtt),
      fcwnd_(Clamped(initial_window_)),
      ncwnd_(fcwnd_),
      rtt_(ToNanos(flow.base_rtt)),
      latest_rtt_(flow.base_rtt) {
  SetAllowance();
}

void Falcon::OnAck(const AckSample& ack) {
  if (ack.rtt > Duration(0) && !ack.host_stall) FollowFabric(ack);
  FollowReceiver(ack);
  SetAllowance();
}

void Falcon::OnLoss(const LossSample& loss) {
  if (loss.now - last_cut_ < latest_rtt_) return;
  ++counters_[1];
  fcwnd_before_loss_ = fcwnd_;
  CutFabric(loss.now, 1 - max_mdf_);
}

void Falcon::OnSpurious(const SpuriousSample&) {
  fcwnd_ = std::max(fcwnd_, fcwnd_before_loss_);
  fcwnd_before_loss_ = 0;
  SetAllowance();
}

void Falcon::OnTimeout(const TimeoutSample& timeout) {
  fcwnd_before_loss_ = 0;
  if (timeout.consecutive >= timeout_limit_) {
    ++counters_[1];
    CutFabric(timeout.now, 0);
  } else if (timeout.now - last_cut_ >= latest_rtt_) {
    ++counters_[1];
    CutFabric(timeout.now, 1 - max_mdf_);
  }
}

void Falcon::OnResume(Time, Duration idle) {
  if (idle <= stale_after_) return;
  fcwnd_ = std::min(fcwnd_, Clamped(initial_window_));
  ncwnd_ = std::min(ncwnd_, Clamped(initial_window_));
  SetAllowance();
}

Snapshot Falcon::snapshot() const {
  return {.window = allowance_.window,
          .rate = allowance_.rate,
          .smoothed_rtt = Duration(static_cast<int64_t>(rtt_))};
}

void Falcon::Restore(const Snapshot& snapshot) {
  if (snapshot.smoothed_rtt > Duration(0)) rtt_ = ToNanos(snapshot.smoothed_rtt);
  if (snapshot.window < Bytes::Max()) {
    fcwnd_ = ncwnd_ = Clamped(static_cast<double>(snapshot.window.count()) * packets_per_byte_);
  }
  SetAllowance();
}

void Falcon::FollowFabric(const AckSample& ack) {
  const double delay = ToNanos(ack.rtt);
  const double target_delay = target();
  rtt_ += (delay - rtt_) / 8;
  latest_rtt_ = ack.rtt;
  if (delay < target_delay) {
    const double growth = ai_ * static_cast<double>(ack.newly_acked.count()) * packets_per_byte_;
    fcwnd_ = Clamped(fcwnd_ + (fcwnd_ >= 1 ? growth / fcwnd_ : growth));
  } else if (ack.now - last_cut_ >= ack.rtt) {
    ++counters_[0];
    fcwnd_before_loss_ = 0;
    CutFabric(ack.now, std::max(1 - beta_ * (delay - target_delay) / delay, 1 - max_mdf_));
  }
}

void Falcon::FollowReceiver(const AckSample& ack) {
  const bool rtt_passed = ack.now - last_nic_change_ >= latest_rtt_;
  const double level = ack.receiver_level;
  if (level < nic_target_) {
    if (!nic_cut_last_ && !rtt_passed) return;
    nic_cut_last_ = false;
    ncwnd_ = Clamped(ncwnd_ + nic_ai_);
  } else {
    if (!rtt_passed) return;
    nic_cut_last_ = true;
    ++counters_[2];
    ncwnd_ = Clamped(ncwnd_ * std::max(1 - (level - nic_target_) / level, 1 - nic_max_mdf_));
  }
  last_nic_change_ = ack.now;
}

void Falcon::CutFabric(Time now, double factor) {
  last_cut_ = now;
  fcwnd_ = Clamped(fcwnd_ * factor);
  SetAllowance();
}

double Falcon::Clamped(double packets) const {
  return std::clamp(packets, min_window_, max_window_);
}

void Falcon::SetAllowance() {
  const double window = std::min(fcwnd_, ncwnd_);
  const double bytes = window * mtu_;
  allowance_.window = Bytes(std::max(static_cast<int64_t>(bytes), int64_t{1}));
  allowance_.rate = Rate::Max();
  if (window < 1) {  // one packet each rtt / window
    const double bits_per_second = bytes * 8e9 / rtt_;
    allowance_.rate = Rate(std::max(static_cast<int64_t>(bits_per_second), int64_t{1}));
  }
}

}  // namespace weir
