#include "cc_algos/mprdma.h"

#include <algorithm>

namespace weir {

MpRdma::MpRdma(const FlowInfo& flow, const Config& config)
    : mtu_(static_cast<double>(flow.mtu.count())),
      packets_per_byte_(1 / mtu_),
      increase_(config.increase),
      decrease_(config.decrease),
      kept_after_loss_(1 - config.loss_cut),
      max_window_(std::max(Ratio(flow.bdp(), flow.mtu) * config.max_window, 1.0)),
      initial_window_(
          std::clamp(Ratio(flow.bdp(), flow.mtu) * config.initial_window, 1.0, max_window_)),
      stale_after_(4 * flow.base_rtt) {
  SetWindow(initial_window_);
}

void MpRdma::OnAck(const AckSample& ack) {
  const double marked = static_cast<double>(ack.newly_marked.count()) * packets_per_byte_;
  const double unmarked =
      static_cast<double>((ack.newly_acked - ack.newly_marked).count()) * packets_per_byte_;
  SetWindow(cwnd_ + increase_ * unmarked / cwnd_ - decrease_ * marked);
}

void MpRdma::OnLoss(const LossSample& loss) {
  if (loss.round == loss_round_) return;
  loss_round_ = loss.round;
  window_before_loss_ = cwnd_;
  SetWindow(cwnd_ * kept_after_loss_);
}

void MpRdma::OnSpurious(const SpuriousSample&) {
  SetWindow(std::max(cwnd_, window_before_loss_));
  window_before_loss_ = 0;
}

void MpRdma::OnTimeout(const TimeoutSample&) {
  window_before_loss_ = 0;
  SetWindow(1);
}

void MpRdma::OnResume(Time, Duration idle) {
  if (idle > stale_after_) SetWindow(std::min(cwnd_, initial_window_));
}

void MpRdma::Restore(const Snapshot& snapshot) {
  if (snapshot.window == Bytes::Max()) return;
  SetWindow(static_cast<double>(snapshot.window.count()) * packets_per_byte_);
}

void MpRdma::SetWindow(double packets) {
  cwnd_ = std::clamp(packets, 1.0, max_window_);
  window_ = Bytes(static_cast<int64_t>(cwnd_ * mtu_));
}

}  // namespace weir
