#include "cc_algos/timely.h"

namespace weir {

Timely::Timely(const FlowInfo& flow, const Config& config)
    : beta_(config.beta),
      hai_after_(config.hai_after),
      hai_factor_(config.hai_factor),
      rate_(flow, GradientRate::Of(config), config.beta) {}

void Timely::OnAck(const AckSample& ack) {
  using Zone = GradientRate::Sample::Zone;
  const GradientRate::Sample sample = rate_.Take(ack);
  if (sample.zone == Zone::kNone) return;
  const bool between = sample.zone == Zone::kBetween;
  if (!between || gradient() > 0) without_rise_ = 0;
  if (!between) return;
  if (gradient() > 0) return rate_.Cut(sample.part * beta_ * gradient());
  ++without_rise_;
  rate_.Raise((without_rise_ >= hai_after_ ? hai_factor_ : 1) * sample.part);
}

void Timely::OnResume(Time, Duration idle) {
  if (rate_.OnResume(idle)) without_rise_ = 0;
}

}  // namespace weir
