#include "cc_algos/gradient_rate.h"

#include <algorithm>

namespace weir {
namespace {

constexpr double kFactorMin = 0.5;  // eRPC timely.h

}  // namespace

GradientRate::GradientRate(const FlowInfo& flow, const Config& config, double beta_high)
    : base_rtt_(flow.base_rtt),
      t_low_(config.t_low > Duration(0) ? config.t_low : Scaled(flow.base_rtt, 1.5)),
      t_high_(std::max(config.t_high > Duration(0) ? config.t_high : 5 * flow.base_rtt, t_low_)),
      beta_high_(beta_high),
      kept_after_loss_(1 - config.loss_cut),
      line_rate_(flow.line_rate),
      min_rate_(std::max(Scaled(flow.line_rate, config.min_rate), Rate(1))),
      delta_(std::max(Scaled(flow.line_rate, config.delta), Rate(1))),
      window_(config.window_bdps > 0 ? std::max(Scaled(flow.bdp(), config.window_bdps), flow.mtu)
                                     : Bytes::Max()),
      gradient_(config.gain, flow.base_rtt),
      rate_(flow.line_rate) {}

GradientRate::Sample GradientRate::Take(const AckSample& ack) {
  using Zone = Sample::Zone;
  if (ack.rtt <= Duration(0) || ack.host_stall) return {};
  const double part = std::min(Ratio(ack.now - sampled_, base_rtt_), 1.0);
  sampled_ = ack.now;
  if (!gradient_.Add(ack.rtt)) return {};
  if (ack.rtt < t_low_) {
    Raise(part);
    return {.zone = Zone::kLow, .part = part};
  }
  if (ack.rtt > t_high_) {
    Cut(part * beta_high_ * (1 - Ratio(t_high_, ack.rtt)));
    return {.zone = Zone::kHigh, .part = part};
  }
  return {.zone = Zone::kBetween, .part = part, .above = Ratio(ack.rtt - t_low_, t_low_)};
}

void GradientRate::OnLoss(const LossSample& loss) {
  if (loss.round == loss_round_) return;
  loss_round_ = loss.round;
  rate_before_loss_ = rate_;
  Multiply(kept_after_loss_);
}

void GradientRate::OnSpurious() {
  rate_ = std::max(rate_, rate_before_loss_);
  rate_before_loss_ = Rate(0);
}

void GradientRate::OnTimeout() {
  rate_before_loss_ = Rate(0);
  Multiply(kept_after_loss_);
}

bool GradientRate::OnResume(Duration idle) {
  if (idle <= 4 * base_rtt_) return false;
  gradient_.Clear();
  return true;
}

void GradientRate::Restore(const Snapshot& snapshot) {
  const Rate rate = std::min(snapshot.rate, snapshot.window / base_rtt_);
  rate_ = std::clamp(rate, min_rate_, line_rate_);
}

void GradientRate::Raise(double deltas) {
  rate_ = std::min(rate_ + Scaled(delta_, deltas), line_rate_);
}

void GradientRate::Cut(double part) { Multiply(std::max(1 - part, kFactorMin)); }

void GradientRate::Multiply(double factor) { rate_ = std::max(Scaled(rate_, factor), min_rate_); }

}  // namespace weir
