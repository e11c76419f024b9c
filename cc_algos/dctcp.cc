#include "cc_algos/dctcp.h"

#include <algorithm>

namespace weir {

Dctcp::Dctcp(const FlowInfo& flow, const Config& config)
    : gain_(config.gain),
      initial_window_(std::max(Scaled(flow.bdp(), config.initial_window), flow.mtu)),
      min_window_(std::max(Scaled(flow.mtu, config.min_window), flow.mtu)),
      increase_(std::max(Scaled(flow.mtu, config.increase), Bytes(1))),
      stale_after_(4 * flow.base_rtt),
      cwnd_(std::max(initial_window_, min_window_)),
      ssthresh_(std::max(cwnd_, flow.bdp())) {}

void Dctcp::OnAck(const AckSample& ack) {
  if (ack.round != round_) StartRound(ack.round);
  acked_ += ack.newly_acked;
  marked_ += ack.newly_marked;
  const bool answered = SentBeforeCut(ack.newly_acked);
  if (ack.newly_marked == Bytes(0)) {
    Grow(ack);
  } else if (!answered) {
    ++counters_[0];
    Cut(1 - alpha_ / 2, ack.in_flight);
  }
}

void Dctcp::OnLoss(const LossSample& loss) {
  if (loss.round != round_) StartRound(loss.round);
  if (SentBeforeCut(loss.lost)) return;
  const Bytes before = cwnd_;
  Cut(0.5, loss.in_flight);
  window_before_loss_ = before;
  ++counters_[1];
}

void Dctcp::OnSpurious(const SpuriousSample&) {
  cwnd_ = std::max(cwnd_, window_before_loss_);
  window_before_loss_ = Bytes(0);
}

void Dctcp::OnTimeout(const TimeoutSample& timeout) {
  if (timeout.consecutive == 1) ssthresh_ = std::max(cwnd_ / 2, min_window_);
  cwnd_ = min_window_;
  grown_by_ = Bytes(0);
  window_before_loss_ = Bytes(0);
  sent_before_cut_ = Bytes(0);
}

void Dctcp::OnResume(Time, Duration idle) {
  if (idle > stale_after_) cwnd_ = std::max(std::min(cwnd_, initial_window_), min_window_);
}

void Dctcp::Restore(const Snapshot& snapshot) {
  if (snapshot.window < Bytes::Max()) cwnd_ = std::max(snapshot.window, min_window_);
}

void Dctcp::StartRound(int64_t round) {
  if (acked_ > Bytes(0)) alpha_ += gain_ * (Ratio(marked_, acked_) - alpha_);
  acked_ = marked_ = Bytes(0);
  round_ = round;
}

// Byte counting of RFC 3465: exact, and without a division for each acknowledgement.
void Dctcp::Grow(const AckSample& ack) {
  if (ack.limit != Limit::kWindow) return;  // RFC 7661: a window that is not used is not proven
  if (cwnd_ < ssthresh_) {
    cwnd_ = std::min(cwnd_ + ack.newly_acked, ssthresh_);
    return;
  }
  grown_by_ += ack.newly_acked;
  if (grown_by_ < cwnd_) return;
  grown_by_ = std::min(grown_by_ - cwnd_, cwnd_);
  cwnd_ += increase_;
}

bool Dctcp::SentBeforeCut(Bytes n) {
  const bool before = sent_before_cut_ > Bytes(0);
  sent_before_cut_ = std::max(sent_before_cut_ - n, Bytes(0));
  return before;
}

void Dctcp::Cut(double factor, Bytes in_flight) {
  sent_before_cut_ = in_flight;
  window_before_loss_ = Bytes(0);
  cwnd_ = std::max(Scaled(cwnd_, factor), min_window_);
  ssthresh_ = cwnd_;
  grown_by_ = Bytes(0);
}

}  // namespace weir
