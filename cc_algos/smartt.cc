#include "cc_algos/smartt.h"

namespace weir {
namespace {

constexpr double ToDouble(Bytes n) { return static_cast<double>(n.count()); }
constexpr double ToDouble(Duration d) { return static_cast<double>(d.count()); }

}  // namespace

Smartt::Smartt(const FlowInfo& flow, const Config& config)
    : mtu_(ToDouble(flow.mtu)),
      bdp_(ToDouble(std::max(flow.bdp(), flow.mtu))),
      base_rtt_(ToDouble(flow.base_rtt)),
      target_(base_rtt_ * config.target),
      mi_(base_rtt_ / (target_ - base_rtt_)),
      fi_(config.fi),
      fd_(config.fd),
      md_(config.md),
      k_(config.k),
      fast_delay_(ToDouble(config.fast_delay)),
      mark_gain_(config.mark_gain),
      mark_level_(config.mark_level),
      qa_factor_(config.qa_factor),
      max_window_(std::max(bdp_ * config.max_window, mtu_)),
      initial_window_(std::clamp(bdp_ * config.initial_window, mtu_, max_window_)),
      stale_after_(4 * flow.base_rtt) {
  SetWindow(initial_window_);
}

void Smartt::OnAck(const AckSample& ack) {
  acked_ += ack.newly_acked;
  const double share = Ratio(ack.newly_marked, ack.newly_acked);
  const double packets = ToDouble(ack.newly_acked) / mtu_;
  marks_ += std::min(mark_gain_ * packets, 1.0) * (share - marks_);
  if (Ignored(ack.newly_acked)) return;
  if (QuickAdapt(ack.now, ack.in_flight)) return;
  if (ack.rtt <= Duration(0) || ack.host_stall) return;
  const double rtt = ToDouble(ack.rtt);
  const bool marked = ack.newly_marked > Bytes(0);
  if (FastIncrease(ToDouble(ack.newly_acked), rtt, marked)) return;
  if (ack.newly_marked < ack.newly_acked) {
    Increase(ToDouble(ack.newly_acked - ack.newly_marked), rtt);
  }
  if (marked && marks_ > mark_level_) Decrease(ToDouble(ack.newly_marked), rtt);
}

void Smartt::OnLoss(const LossSample& loss) {
  if (Ignored(loss.lost)) return;
  qa_armed_ = true;
  SetWindow(cwnd_ - ToDouble(loss.lost));
  QuickAdapt(loss.now, loss.in_flight);
}

void Smartt::OnSpurious(const SpuriousSample& spurious) {
  SetWindow(cwnd_ + ToDouble(spurious.bytes));
}

void Smartt::OnTimeout(const TimeoutSample& timeout) {
  qa_armed_ = true;
  to_ignore_ = Bytes(0);  // all of it is lost
  SetWindow(cwnd_ - ToDouble(timeout.lost));
  QuickAdapt(timeout.now, Bytes(0));
}

void Smartt::OnResume(Time, Duration idle) {
  if (idle <= stale_after_) return;
  marks_ = 0;
  at_base_rtt_ = 0;
  fast_ = qa_armed_ = false;
  to_ignore_ = Bytes(0);
  qa_end_ = kBefore;
  SetWindow(std::min(cwnd_, initial_window_));
}

void Smartt::Restore(const Snapshot& snapshot) {
  if (snapshot.window < Bytes::Max()) SetWindow(ToDouble(snapshot.window));
}

// Whether `n` bytes belong to what was in flight when quick adapt acted.
bool Smartt::Ignored(Bytes n) {
  const bool ignored = to_ignore_ > Bytes(0);
  to_ignore_ = std::max(to_ignore_ - n, Bytes(0));
  return ignored;
}

bool Smartt::QuickAdapt(Time now, Bytes in_flight) {
  if (now < qa_end_) return false;
  const bool act = qa_armed_ && qa_end_ != kBefore;
  if (act) {
    SetWindow(std::max(ToDouble(acked_), mtu_) * qa_factor_);
    to_ignore_ = in_flight;
    qa_armed_ = false;
    ++counters_[0];
  }
  qa_end_ = now + Duration(static_cast<int64_t>(target_));
  acked_ = Bytes(0);
  return act;
}

bool Smartt::FastIncrease(double n, double rtt, bool marked) {
  if (marked || rtt - base_rtt_ >= fast_delay_) {
    at_base_rtt_ = 0;
    fast_ = false;
    return false;
  }
  at_base_rtt_ += n;
  fast_ = fast_ || at_base_rtt_ > cwnd_;
  if (!fast_) return false;
  SetWindow(cwnd_ + k_ * n);
  ++counters_[1];
  return true;
}

void Smartt::Increase(double n, double rtt) {
  const double a_packet_a_round = n / cwnd_ * mtu_;
  double increase = fi_ * a_packet_a_round;
  if (rtt < target_) {
    increase += std::min(n, mi_ * (target_ - rtt) / rtt * a_packet_a_round);
  }
  SetWindow(cwnd_ + increase);
}

void Smartt::Decrease(double n, double rtt) {
  double decrease = fd_ * cwnd_ / bdp_ * n;
  if (rtt >= target_) decrease += std::min(n, md_ * (rtt - target_) / rtt * n);
  SetWindow(cwnd_ - decrease);
}

void Smartt::SetWindow(double bytes) {
  cwnd_ = std::clamp(bytes, mtu_, max_window_);
  window_ = Bytes(static_cast<int64_t>(cwnd_));
}

}  // namespace weir
