#include "cc_algos/power_window.h"

#include <algorithm>

namespace weir {

PowerWindow::PowerWindow(const FlowInfo& flow, const Setting& setting)
    : mtu_(flow.mtu),
      base_rtt_(static_cast<double>(flow.base_rtt.count())),
      gamma_(setting.gamma),
      kept_after_loss_(1 - setting.loss_cut),
      first_window_(static_cast<double>(std::max(flow.bdp(), flow.mtu).count())),
      increase_(
          std::max(first_window_ * setting.increase, static_cast<double>(flow.mtu.count()) / 2)),
      min_window_(std::max(first_window_ * setting.min_window, 1.0)) {
  SetWindow(first_window_);
}

void PowerWindow::Update(double before, double power) {
  SetWindow(gamma_ * (before / power + increase_) + (1 - gamma_) * window_);
}

void PowerWindow::OnLoss(int64_t round) {
  if (round == loss_round_) return;
  loss_round_ = round;
  window_before_loss_ = window_;
  SetWindow(window_ * kept_after_loss_);
}

void PowerWindow::OnSpurious() {
  SetWindow(std::max(window_, window_before_loss_));
  window_before_loss_ = 0;
}

void PowerWindow::OnTimeout() {
  window_before_loss_ = 0;
  SetWindow(window_ * kept_after_loss_);
}

void PowerWindow::Restore(const Snapshot& snapshot) {
  if (snapshot.window == Bytes::Max()) return;
  SetWindow(static_cast<double>(snapshot.window.count()));
}

void PowerWindow::SetWindow(double bytes) {
  window_ = std::clamp(bytes, min_window_, first_window_);
  // A packet may leave while less than w is in flight.
  allowance_.window = Bytes(static_cast<int64_t>(window_)) + mtu_ - Bytes(1);
  allowance_.rate = Rate(std::max(static_cast<int64_t>(window_ * 8e9 / base_rtt_), int64_t{1}));
}

}  // namespace weir
