#include "cc_algos/hpcc.h"

#include <algorithm>

namespace weir {

Hpcc::Hpcc(const FlowInfo& flow, const Config& config)
    : window_(flow, config), stale_after_(4 * flow.base_rtt) {}

void Hpcc::OnAck(const AckSample& ack) {
  if (hops_.empty()) window_.StartRound(ack.round);
  if (Measure(ack)) window_.OnUtilisation(utilisation_, ack.round);
}

void Hpcc::OnResume(Time, Duration idle) {
  if (idle <= stale_after_) return;
  hops_.Clear();
  utilisation_ = 1;
  window_.OnResume();
}

// Brings U up to date; false: no hop could be measured.
bool Hpcc::Measure(const AckSample& ack) {
  const double base_rtt = window_.base_rtt();
  double most = -1;
  double tau = 0;
  hops_.Update(ack.telemetry, [&](const SwitchRecord& before, const SwitchRecord& now, double dt) {
    const double bytes_per_nano = static_cast<double>(now.rate.count()) / 8e9;
    const Bytes passed = std::max(now.transmitted - before.transmitted, Bytes(0));
    const double sent = static_cast<double>(passed.count());
    const double queue = static_cast<double>(std::min(now.queue, before.queue).count());
    const double u = queue / (bytes_per_nano * base_rtt) + sent / dt / bytes_per_nano;
    if (u <= most) return;
    most = u;
    tau = std::min(dt, base_rtt);
  });
  if (most < 0) return false;
  utilisation_ += tau / base_rtt * (most - utilisation_);
  return true;
}

}  // namespace weir
