#include "cc_algos/powertcp.h"

#include <algorithm>

namespace weir {

PowerTcp::PowerTcp(const FlowInfo& flow, const Config& config)
    : window_(flow, {.gamma = config.gamma,
                     .increase = config.increase,
                     .min_window = config.min_window,
                     .loss_cut = config.loss_cut}),
      power_(window_.base_rtt()),
      window_before_(window_.bytes()),
      stale_after_(4 * flow.base_rtt) {}

void PowerTcp::OnAck(const AckSample& ack) {
  if (Measure(ack)) window_.Update(window_before_, power_.value());
  if (ack.round == round_) return;
  round_ = ack.round;
  window_before_ = window_.bytes();
}

void PowerTcp::OnTimeout(const TimeoutSample&) {
  window_.OnTimeout();
  window_before_ = window_.bytes();
}

void PowerTcp::OnResume(Time, Duration idle) {
  if (idle <= stale_after_) return;
  hops_.Clear();
  power_.Clear();
}

void PowerTcp::Restore(const Snapshot& snapshot) {
  window_.Restore(snapshot);
  window_before_ = window_.bytes();
}

// Brings Gamma up to date; false: no hop could be measured.
bool PowerTcp::Measure(const AckSample& ack) {
  const double tau = window_.base_rtt();
  double most = -1;
  double interval = 0;
  hops_.Update(ack.telemetry, [&](const SwitchRecord& before, const SwitchRecord& now, double dt) {
    const double rate = static_cast<double>(now.rate.count()) / 8e9;  // B, bytes a nanosecond
    const Bytes carried = now.transmitted - before.transmitted;
    const Bytes grown = now.queue - before.queue;
    const double current = static_cast<double>((carried + grown).count()) / dt;
    const double voltage = static_cast<double>(now.queue.count()) + rate * tau;
    const double power =
        std::max(current / rate, SmoothedPower::kCurrentMin) * voltage / (rate * tau);
    if (power <= most) return;
    most = power;
    interval = dt;
  });
  if (most < 0) return false;
  power_.Add(most, interval);
  return true;
}

}  // namespace weir
