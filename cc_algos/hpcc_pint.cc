#include "cc_algos/hpcc_pint.h"

namespace weir {

HpccPint::HpccPint(const FlowInfo& flow, const Config& config)
    : window_(flow, config), stale_after_(4 * flow.base_rtt) {}

void HpccPint::OnAck(const AckSample& ack) {
  if (!started_) window_.StartRound(ack.round);
  started_ = true;
  if (ack.path_load > 0) window_.OnUtilisation(ack.path_load, ack.round);
}

void HpccPint::OnResume(Time, Duration idle) {
  if (idle <= stale_after_) return;
  started_ = false;
  window_.OnResume();
}

}  // namespace weir
