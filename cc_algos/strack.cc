#include "cc_algos/strack.h"

#include <algorithm>

namespace weir {
namespace {

constexpr double ToNanos(Duration d) { return static_cast<double>(d.count()); }
constexpr Bytes kReferenceBdp{150'000};  // 100 Gb/s and 12 us, UEC 1.0 table 3-82

}  // namespace

STrack::STrack(const FlowInfo& flow, const Config& config)
    : mtu_(static_cast<double>(flow.mtu.count())),
      packets_per_byte_(1 / mtu_),
      base_rtt_(flow.base_rtt),
      target_(config.target_delay > Duration(0) ? ToNanos(config.target_delay)
                                                : 0.75 * ToNanos(flow.base_rtt)),
      increase_(config.increase > 0 ? config.increase : 4 * Ratio(flow.bdp(), kReferenceBdp)),
      guard_(config.guard > 0 ? config.guard : Ratio(flow.bdp(), kReferenceBdp)),
      beta_(config.beta),
      max_mdf_(config.max_mdf),
      reset_delay_(config.reset_delay * target_),
      delay_gain_(config.delay_gain),
      max_window_(std::max(Ratio(flow.bdp(), flow.mtu) * config.max_window, 1.0)),
      initial_window_(
          std::clamp(Ratio(flow.bdp(), flow.mtu) * config.initial_window, 1.0, max_window_)) {
  SetWindow(initial_window_);
}

void STrack::OnAck(const AckSample& ack) {
  CountAchieved(ack.now, static_cast<double>(ack.newly_acked.count()) * packets_per_byte_);
  if (ack.rtt <= Duration(0) || ack.host_stall) return;
  const double delay = ToNanos(std::max(ack.rtt - base_rtt_, Duration(0)));
  average_delay_ += delay_gain_ * (delay - average_delay_);
  const Bytes unmarked = ack.newly_acked - ack.newly_marked;
  Increase(static_cast<double>(unmarked.count()) * packets_per_byte_, delay);
  if (ack.newly_marked > Bytes(0)) Decrease(ack.now, delay);
}

void STrack::OnLoss(const LossSample& loss) {
  if (loss.now - last_cut_ < base_rtt_) return;
  const double before = cwnd_;
  Cut(loss.now, 1 - max_mdf_);
  window_before_loss_ = before;
}

void STrack::OnSpurious(const SpuriousSample&) {
  SetWindow(std::max(cwnd_, window_before_loss_));
  window_before_loss_ = 0;
}

void STrack::OnTimeout(const TimeoutSample& timeout) {
  Cut(timeout.now, timeout.consecutive > 1 ? 0 : 1 - max_mdf_);
}

void STrack::OnResume(Time, Duration idle) {
  if (idle <= 4 * base_rtt_) return;
  average_delay_ = 0;
  achieved_ = acked_ = 0;
  SetWindow(std::min(cwnd_, initial_window_));
}

void STrack::Restore(const Snapshot& snapshot) {
  if (snapshot.window == Bytes::Max()) return;
  SetWindow(static_cast<double>(snapshot.window.count()) * packets_per_byte_);
}

// A period that was longer than two base RTTs was a pause, and says nothing of the network.
void STrack::CountAchieved(Time now, double packets) {
  acked_ += packets;
  const Duration length = now - period_;
  if (length < base_rtt_) return;
  achieved_ = length <= 2 * base_rtt_ ? acked_ : 0;
  acked_ = 0;
  period_ = now;
}

void STrack::Increase(double packets, double delay) {
  if (delay < target_) {
    SetWindow(cwnd_ + increase_ * packets * (target_ - delay) / target_ / cwnd_);
  } else if (delay > 2 * target_) {
    SetWindow(cwnd_ + guard_ * packets / cwnd_);
  }
}

void STrack::Decrease(Time now, double delay) {
  if (average_delay_ <= target_ || cwnd_ <= achieved_ || now - last_cut_ < base_rtt_) return;
  if (delay > reset_delay_ && achieved_ > 0) {
    last_cut_ = now;
    window_before_loss_ = 0;
    ++counters_[1];
    SetWindow(achieved_);
  } else {
    Cut(now, std::max(1 - beta_ * (average_delay_ - target_) / average_delay_, 1 - max_mdf_));
  }
}

void STrack::Cut(Time now, double factor) {
  last_cut_ = now;
  window_before_loss_ = 0;
  ++counters_[0];
  SetWindow(cwnd_ * factor);
}

void STrack::SetWindow(double packets) {
  cwnd_ = std::clamp(packets, 1.0, max_window_);
  window_ = Bytes(static_cast<int64_t>(cwnd_ * mtu_));
}

}  // namespace weir
