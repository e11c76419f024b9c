#include "cc_algos/hpcc_window.h"

#include <algorithm>

namespace weir {
namespace {

constexpr double kLeastUtilisation = 1e-3;  // divisor; such a window is the largest anyway

}  // namespace

HpccWindow::HpccWindow(const FlowInfo& flow, const Config& config)
    : mtu_(flow.mtu),
      base_rtt_(static_cast<double>(flow.base_rtt.count())),
      eta_(config.eta),
      max_stage_(config.max_stage),
      kept_after_loss_(1 - config.loss_cut),
      first_window_(static_cast<double>(std::max(flow.bdp(), flow.mtu).count())),
      increase_(first_window_ * (1 - eta_) / config.senders),
      min_window_(std::max(first_window_ * config.min_window, 1.0)),
      reference_(first_window_) {
  SetWindow(first_window_);
}

void HpccWindow::OnUtilisation(double u, int64_t round) {
  const bool update = round != round_;
  round_ = round;
  const bool multiplicative = u >= eta_ || stage_ >= max_stage_;
  if (multiplicative) {
    SetWindow(reference_ / (std::max(u, kLeastUtilisation) / eta_) + increase_);
  } else {
    SetWindow(reference_ + increase_);
  }
  if (!update) return;
  stage_ = multiplicative ? 0 : stage_ + 1;
  reference_ = window_;
}

void HpccWindow::OnLoss(int64_t round) {
  if (round == loss_round_) return;
  loss_round_ = round;
  reference_before_loss_ = reference_;
  Cut();
}

void HpccWindow::OnSpurious() {
  reference_ = std::max(reference_, reference_before_loss_);
  reference_before_loss_ = 0;
}

void HpccWindow::OnTimeout() {
  reference_before_loss_ = 0;
  Cut();
}

void HpccWindow::OnResume() {
  stage_ = 0;
  reference_before_loss_ = 0;
}

void HpccWindow::Restore(const Snapshot& snapshot) {
  if (snapshot.window == Bytes::Max()) return;
  SetWindow(static_cast<double>(snapshot.window.count()));
  reference_ = window_;
}

void HpccWindow::Cut() {
  reference_ = Clamped(reference_ * kept_after_loss_);
  stage_ = 0;
  SetWindow(reference_);
}

double HpccWindow::Clamped(double bytes) const {
  return std::clamp(bytes, min_window_, first_window_);
}

void HpccWindow::SetWindow(double bytes) {
  window_ = Clamped(bytes);
  // A packet may leave while less than W is in flight.
  allowance_.window = Bytes(static_cast<int64_t>(window_)) + mtu_ - Bytes(1);
  allowance_.rate = Rate(std::max(static_cast<int64_t>(window_ * 8e9 / base_rtt_), int64_t{1}));
}

}  // namespace weir
