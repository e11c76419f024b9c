#include "cc_algos/timely_patched.h"

#include <algorithm>

namespace weir {

TimelyPatched::TimelyPatched(const FlowInfo& flow, const Config& config)
    : beta_(config.beta), rate_(flow, GradientRate::Of(config), config.beta_high) {}

void TimelyPatched::OnAck(const AckSample& ack) {
  const GradientRate::Sample sample = rate_.Take(ack);
  if (sample.zone != GradientRate::Sample::Zone::kBetween) return;
  const double w = std::clamp(2 * gradient() + 0.5, 0.0, 1.0);
  rate_.Cut(sample.part * beta_ * w * sample.above);
  rate_.Raise(sample.part * (1 - w));
}

}  // namespace weir
