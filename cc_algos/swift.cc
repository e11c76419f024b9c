#include "cc_algos/swift.h"

namespace weir {

Swift::Swift(const FlowInfo& flow, const Config& config)
    : window_(flow, SwiftWindow::Of(config)), allowance_(window_.AllowanceOf(window_.packets())) {}

void Swift::OnAck(const AckSample& ack) {
  if (ack.rtt <= Duration(0) || ack.host_stall) return;
  if (window_.OnAck(ack)) Refresh();
}

void Swift::OnLoss(const LossSample& loss) {
  if (window_.OnLoss(loss)) Refresh();
}

void Swift::OnSpurious(const SpuriousSample&) {
  window_.OnSpurious();
  Refresh();
}

void Swift::OnTimeout(const TimeoutSample& timeout) {
  if (window_.OnTimeout(timeout)) Refresh();
}

void Swift::OnResume(Time, Duration idle) {
  if (window_.OnResume(idle)) Refresh();
}

Snapshot Swift::snapshot() const {
  return {
      .window = allowance_.window, .rate = allowance_.rate, .smoothed_rtt = window_.smoothed_rtt()};
}

void Swift::Restore(const Snapshot& snapshot) {
  window_.Restore(snapshot);
  Refresh();
}

void Swift::Refresh() {
  allowance_ = window_.AllowanceOf(window_.packets());
  counters_[0] = window_.delay_cuts();
  counters_[1] = window_.loss_cuts();
}

}  // namespace weir
