#include "cc_algos/rtt_probe.h"

#include <algorithm>

namespace weir {
namespace {

constexpr double kFactorMin = 0.5;

}  // namespace

RttProbe::RttProbe(const FlowInfo& flow, const Config& config)
    : interval_(config.interval > Duration(0) ? config.interval : flow.base_rtt),
      headroom_(config.headroom),
      slope_(config.slope),
      beta_(config.beta),
      hai_after_(config.hai_after),
      hai_factor_(config.hai_factor),
      kept_after_loss_(1 - config.loss_cut),
      base_rtt_(flow.base_rtt),
      line_rate_(flow.line_rate),
      min_rate_(std::max(Scaled(flow.line_rate, config.min_rate), Rate(1))),
      ai_(std::max(Scaled(flow.line_rate, config.ai), Rate(1))),
      rate_(flow.line_rate) {}

void RttProbe::OnProbe(const ProbeSample& probe) {
  const auto rtt = static_cast<double>(probe.rtt.count());
  const double target_rtt = target();
  if (rtt < target_rtt) {
    fast_ = rtt < static_cast<double>(base_rtt_.count()) * (1 + headroom_ / 2) ? fast_ + 1 : 0;
    const double n = fast_ >= hai_after_ ? hai_factor_ : 1;
    rate_ = std::min(rate_ + Scaled(ai_, n), line_rate_);
    return;
  }
  fast_ = 0;
  if (probe.now - last_cut_ < probe.rtt) return;
  last_cut_ = probe.now;
  rate_before_loss_ = Rate(0);
  ++counters_[0];
  Multiply(std::max(1 - beta_ * (rtt - target_rtt) / rtt, kFactorMin));
}

void RttProbe::OnLoss(const LossSample& loss) {
  if (loss.round == loss_round_) return;
  loss_round_ = loss.round;
  fast_ = 0;
  rate_before_loss_ = rate_;
  ++counters_[1];
  Multiply(kept_after_loss_);
}

void RttProbe::OnSpurious(const SpuriousSample&) {
  rate_ = std::max(rate_, rate_before_loss_);
  rate_before_loss_ = Rate(0);
}

void RttProbe::OnTimeout(const TimeoutSample&) {
  fast_ = 0;
  rate_before_loss_ = Rate(0);
  ++counters_[1];
  Multiply(kept_after_loss_);
}

void RttProbe::OnResume(Time, Duration idle) {
  if (idle > 4 * base_rtt_) fast_ = 0;
}

void RttProbe::Restore(const Snapshot& snapshot) {
  const Rate rate = std::min(snapshot.rate, snapshot.window / base_rtt_);
  rate_ = std::clamp(rate, min_rate_, line_rate_);
}

Allowance RttProbe::allowance() const {
  const Bytes window = rate_ * Duration(static_cast<int64_t>(target()));
  return {.window = std::max(window, Bytes(1)), .rate = rate_};
}

double RttProbe::target() const {
  const double share = Ratio(rate_, line_rate_);
  return static_cast<double>(base_rtt_.count()) * (1 + headroom_ + slope_ * (1 - share));
}

void RttProbe::Multiply(double factor) { rate_ = std::max(Scaled(rate_, factor), min_rate_); }

}  // namespace weir
