#include "cc_algos/theta_powertcp.h"

#include <algorithm>

namespace weir {

ThetaPowerTcp::ThetaPowerTcp(const FlowInfo& flow, const Config& config)
    : window_(flow, {.gamma = config.gamma,
                     .increase = config.increase,
                     .min_window = config.min_window,
                     .loss_cut = config.loss_cut}),
      power_(window_.base_rtt()),
      stale_after_(4 * flow.base_rtt) {}

void ThetaPowerTcp::OnAck(const AckSample& ack) {
  if (ack.rtt <= Duration(0) || ack.host_stall) {
    if (ack.host_stall) rtt_before_ = Duration(0);
    return;
  }
  const Duration dt = ack.now - rtt_at_;
  if (rtt_before_ > Duration(0) && dt > Duration(0)) {
    const double current =
        std::max(Ratio(ack.rtt - rtt_before_, dt) + 1, SmoothedPower::kCurrentMin);
    power_.Add(current * static_cast<double>(ack.rtt.count()) / window_.base_rtt(),
               static_cast<double>(dt.count()));
  }
  if (rtt_before_ == Duration(0) || dt > Duration(0)) {
    rtt_before_ = ack.rtt;
    rtt_at_ = ack.now;
  }
  if (ack.round == round_) return;
  round_ = ack.round;
  window_.Update(window_.bytes(), power_.value());
}

void ThetaPowerTcp::OnResume(Time, Duration idle) {
  if (idle <= stale_after_) return;
  rtt_before_ = Duration(0);
  power_.Clear();
}

}  // namespace weir
