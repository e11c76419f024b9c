#include "cc_algos/dcqcn.h"

namespace weir {
namespace {

template <class T>
constexpr T Or(T configured, T of_form) {
  return configured > T{} ? configured : of_form;
}

// base^n for n >= 0 in at most 63 steps; no maths library, so the same bits everywhere.
constexpr double Power(double base, int64_t n) {
  double result = 1;
  for (; n > 0; n >>= 1, base *= base) {
    if (n & 1) result *= base;
  }
  return result;
}

}  // namespace

Dcqcn::Dcqcn(const FlowInfo& flow, const Config& config)
    : nvidia_(config.nvidia_form),
      clamp_target_(config.clamp_target),
      gain_(Or(config.gain, nvidia_ ? 5.0 / 1024 : 1.0 / 256)),
      min_dec_factor_(config.min_dec_factor),
      first_cnp_factor_(config.first_cnp_factor),
      recovery_steps_(Or<int64_t>(config.recovery_steps, nvidia_ ? 1 : 5)),
      alpha_period_(Or(config.alpha_period, nvidia_ ? Micros(1) : Micros(55))),
      increase_timer_(Or(config.increase_timer, nvidia_ ? Micros(300) : Micros(55))),
      decrease_period_(config.decrease_period),
      byte_counter_(config.byte_counter),
      window_(config.window_bdps > 0 ? std::max(Scaled(flow.bdp(), config.window_bdps), flow.mtu)
                                     : Bytes::Max()),
      ai_(Scaled(flow.line_rate, Or(config.ai_fraction, nvidia_ ? 1.0 / 5000 : 1.0 / 1000))),
      hai_(Scaled(flow.line_rate, Or(config.hai_fraction, nvidia_ ? 1.0 / 500 : 1.0 / 200))),
      line_rate_(flow.line_rate),
      min_rate_(std::min(Or(config.min_rate, nvidia_ ? Mbps(1) : Mbps(10)), flow.line_rate)),
      base_rtt_(flow.base_rtt),
      rate_(flow.line_rate),
      target_(flow.line_rate) {}

ReceiverDuty Dcqcn::Duty(const FlowInfo&, const Config& config) {
  return {.cnp_interval = Or(config.cnp_interval, config.nvidia_form ? Micros(4) : Micros(50))};
}

void Dcqcn::OnSend(const SendSample& send) {
  if (nvidia_ || rate_ == line_rate_) return;
  sent_ += send.size;
  if (sent_ < byte_counter_) return;
  sent_ = Bytes(0);
  if (!acked_for_bytes_) return;
  acked_for_bytes_ = false;
  ++byte_steps_;
  PaperStep();
}

void Dcqcn::OnAck(const AckSample& ack) {
  acked_for_timer_ = acked_for_bytes_ = true;
  if (increase_due_ == Time::Never() && rate_ < line_rate_) {
    increase_due_ = ack.now + increase_timer_;
  }
}

void Dcqcn::OnTimeout(const TimeoutSample& timeout) {
  Cut(timeout.now, 1 - AlphaAt(timeout.now) / 2, true);
}

void Dcqcn::OnCnp(Time now) {
  if (!nvidia_) {
    Cut(now, 1 - AlphaAt(now) / 2, true);
    seen_cnp_ = true;
    alpha_ += gain_ * (1 - alpha_);
    alpha_at_ = now;  // restarts the alpha timer
    return;
  }
  if (seen_cnp_) {
    AlphaAt(now);
    cnp_in_period_ = true;
  } else {
    FirstCnp(now);
  }
  if (decrease_due_ == Time::Never()) {
    const int64_t looks = (now - first_cnp_) / decrease_period_;
    decrease_due_ = first_cnp_ + decrease_period_ * (looks + 1);
  }
}

void Dcqcn::OnTimer(Time now) {
  if (now >= decrease_due_) {
    decrease_due_ = Time::Never();
    Cut(now, std::max(1 - AlphaAt(now) / 2, min_dec_factor_), clamp_target_ || timer_steps_ > 0);
  }
  if (now >= increase_due_) TimerStep(now);
}

void Dcqcn::Restore(const Snapshot& snapshot) {
  const Rate rate = std::min(snapshot.rate, snapshot.window / base_rtt_);
  rate_ = target_ = std::clamp(rate, min_rate_, line_rate_);
}

// Runs the alpha timer up to `now`: one step a period, of which the first may have met a CNP.
double Dcqcn::AlphaAt(Time now) {
  const int64_t periods = (now - alpha_at_) / alpha_period_;
  if (periods > 0 && seen_cnp_) {
    alpha_ = ((1 - gain_) * alpha_ + (cnp_in_period_ ? gain_ : 0)) * Power(1 - gain_, periods - 1);
    cnp_in_period_ = false;
    alpha_at_ = alpha_at_ + alpha_period_ * periods;
  }
  return alpha_;
}

void Dcqcn::FirstCnp(Time now) {
  seen_cnp_ = true;
  first_cnp_ = alpha_at_ = now;
  alpha_ = 1;
  rate_ = target_ = std::max(Scaled(rate_, first_cnp_factor_), min_rate_);
}

void Dcqcn::Cut(Time now, double factor, bool move_target) {
  ++counters_[0];
  if (move_target) target_ = rate_;
  rate_ = std::max(Scaled(rate_, factor), min_rate_);
  timer_steps_ = byte_steps_ = 0;
  sent_ = Bytes(0);
  acked_for_timer_ = acked_for_bytes_ = false;
  increase_due_ = now + increase_timer_;
}

void Dcqcn::TimerStep(Time now) {
  increase_due_ = Time::Never();  // the next acknowledgement starts it again
  if (!acked_for_timer_) return;
  acked_for_timer_ = false;
  ++timer_steps_;
  nvidia_ ? NvidiaStep() : PaperStep();
  if (rate_ < line_rate_) increase_due_ = now + increase_timer_;
}

void Dcqcn::PaperStep() {
  const auto [least, most] = std::minmax(timer_steps_, byte_steps_);
  if (least > recovery_steps_) {
    target_ += (least - recovery_steps_) * hai_;
  } else if (most > recovery_steps_) {
    target_ += ai_;
  }
  Recover();
}

void Dcqcn::NvidiaStep() {
  const int64_t step = timer_steps_ - 1;
  if (step > recovery_steps_) {
    target_ += hai_;
  } else if (step == recovery_steps_) {
    target_ += ai_;
  }
  Recover();
}

// Rounds up, so that the rate reaches its target instead of stopping 1 b/s below.
void Dcqcn::Recover() {
  ++counters_[1];
  target_ = std::min(target_, line_rate_);
  rate_ = (target_ + rate_ + Rate(1)) / 2;
}

}  // namespace weir
