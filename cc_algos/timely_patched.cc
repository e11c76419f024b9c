#include "cc_algos/timely_patched.h"

#include <algorithm>

namespace weir {
namespace {

constexpr double kFactorMin = 0.5;  // eRPC timely.h

}  // namespace

TimelyPatched::TimelyPatched(const FlowInfo& flow, const Config& config)
    : base_rtt_(flow.base_rtt),
      t_low_(config.t_low > Duration(0) ? config.t_low : Scaled(flow.base_rtt, 1.5)),
      t_high_(std::max(config.t_high > Duration(0) ? config.t_high : 5 * flow.base_rtt, t_low_)),
      beta_(config.beta),
      beta_high_(config.beta_high),
      kept_after_loss_(1 - config.loss_cut),
      line_rate_(flow.line_rate),
      min_rate_(std::max(Scaled(flow.line_rate, config.min_rate), Rate(1))),
      delta_(std::max(Scaled(flow.line_rate, config.delta), Rate(1))),
      window_(config.window_bdps > 0 ? std::max(Scaled(flow.bdp(), config.window_bdps), flow.mtu)
                                     : Bytes::Max()),
      gradient_(config.gain, flow.base_rtt),
      rate_(flow.line_rate) {}

void TimelyPatched::OnAck(const AckSample& ack) {
  if (ack.rtt <= Duration(0) || ack.host_stall) return;
  const double part = PartOfRtt(ack.now);
  if (!gradient_.Add(ack.rtt)) return;
  if (ack.rtt < t_low_) {
    rate_ = std::min(rate_ + Scaled(delta_, part), line_rate_);
  } else if (ack.rtt > t_high_) {
    Multiply(std::max(1 - part * beta_high_ * (1 - Ratio(t_high_, ack.rtt)), kFactorMin));
  } else {
    const double w = std::clamp(2 * gradient_.value() + 0.5, 0.0, 1.0);
    const double error = Ratio(ack.rtt - t_low_, t_low_);
    Multiply(std::max(1 - part * beta_ * w * error, kFactorMin));
    rate_ = std::min(rate_ + Scaled(delta_, part * (1 - w)), line_rate_);
  }
}

void TimelyPatched::OnLoss(const LossSample& loss) {
  if (loss.round == loss_round_) return;
  loss_round_ = loss.round;
  rate_before_loss_ = rate_;
  Multiply(kept_after_loss_);
}

void TimelyPatched::OnSpurious(const SpuriousSample&) {
  rate_ = std::max(rate_, rate_before_loss_);
  rate_before_loss_ = Rate(0);
}

void TimelyPatched::OnTimeout(const TimeoutSample&) {
  rate_before_loss_ = Rate(0);
  Multiply(kept_after_loss_);
}

void TimelyPatched::OnResume(Time, Duration idle) {
  if (idle <= 4 * base_rtt_) return;
  gradient_.Clear();
}

void TimelyPatched::Restore(const Snapshot& snapshot) {
  const Rate rate = std::min(snapshot.rate, snapshot.window / base_rtt_);
  rate_ = std::clamp(rate, min_rate_, line_rate_);
}

double TimelyPatched::PartOfRtt(Time now) {
  const double part = std::min(Ratio(now - sampled_, base_rtt_), 1.0);
  sampled_ = now;
  return part;
}

void TimelyPatched::Multiply(double factor) { rate_ = std::max(Scaled(rate_, factor), min_rate_); }

}  // namespace weir
