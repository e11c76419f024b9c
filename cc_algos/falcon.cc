#include "cc_algos/falcon.h"

#include <algorithm>

namespace weir {

Falcon::Falcon(const FlowInfo& flow, const Config& config)
    : nic_target_(static_cast<double>(config.nic_target)),
      nic_ai_(config.nic_ai),
      nic_max_mdf_(config.nic_max_mdf),
      fabric_(flow, SwiftWindow::Of(config)),
      ncwnd_(fabric_.packets()) {
  Refresh();
}

void Falcon::OnAck(const AckSample& ack) {
  if (ack.rtt > Duration(0) && !ack.host_stall) fabric_.OnAck(ack);
  FollowReceiver(ack);
  Refresh();
}

void Falcon::OnLoss(const LossSample& loss) {
  if (fabric_.OnLoss(loss)) Refresh();
}

void Falcon::OnSpurious(const SpuriousSample&) {
  fabric_.OnSpurious();
  Refresh();
}

void Falcon::OnTimeout(const TimeoutSample& timeout) {
  if (fabric_.OnTimeout(timeout)) Refresh();
}

void Falcon::OnResume(Time, Duration idle) {
  if (!fabric_.OnResume(idle)) return;
  ncwnd_ = std::min(ncwnd_, fabric_.initial());
  Refresh();
}

Snapshot Falcon::snapshot() const {
  return {
      .window = allowance_.window, .rate = allowance_.rate, .smoothed_rtt = fabric_.smoothed_rtt()};
}

void Falcon::Restore(const Snapshot& snapshot) {
  fabric_.Restore(snapshot);
  if (snapshot.window < Bytes::Max()) ncwnd_ = fabric_.packets();
  Refresh();
}

void Falcon::FollowReceiver(const AckSample& ack) {
  const bool rtt_passed = ack.now - last_nic_change_ >= fabric_.latest_rtt();
  const double level = ack.receiver_level;
  if (level < nic_target_) {
    if (!nic_cut_last_ && !rtt_passed) return;
    nic_cut_last_ = false;
    ncwnd_ = fabric_.Clamped(ncwnd_ + nic_ai_);
  } else {
    if (!rtt_passed) return;
    nic_cut_last_ = true;
    ++counters_[2];
    ncwnd_ =
        fabric_.Clamped(ncwnd_ * std::max(1 - (level - nic_target_) / level, 1 - nic_max_mdf_));
  }
  last_nic_change_ = ack.now;
}

void Falcon::Refresh() {
  allowance_ = fabric_.AllowanceOf(std::min(fabric_.packets(), ncwnd_));
  counters_[0] = fabric_.delay_cuts();
  counters_[1] = fabric_.loss_cuts();
}

}  // namespace weir
