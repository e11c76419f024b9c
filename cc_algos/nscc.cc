#include "cc_algos/nscc.h"

namespace weir {
namespace {

template <class T>
constexpr T Or(T configured, T derived) {
  return configured > T{} ? configured : derived;
}
constexpr double ToDouble(Bytes n) { return static_cast<double>(n.count()); }
constexpr double ToDouble(Duration d) { return static_cast<double>(d.count()); }

// The scale of the reference network: 100 Gb/s and 12 us.
constexpr Bytes kReferenceBdp{150'000};
constexpr Duration kReferenceDelay = Micros(12);

// Without trimming, the delay at which a queue drops less one base RTT: UEC 1.0 table 3-82. Four
// targets, the value for a queue of five BDPs, if the network does not say.
Duration QaThreshold(const FlowInfo& flow, Duration base_rtt, Duration target) {
  if (flow.trimming) return Duration::Max();
  if (flow.max_queue == Duration(0)) return 4 * target;
  return std::max(flow.max_queue - base_rtt, target);
}

}  // namespace

Nscc::Nscc(const FlowInfo& flow, const Config& config)
    : mtu_(flow.mtu),
      line_rate_(flow.line_rate),
      credit_(flow.credit),
      fixed_max_cwnd_(config.max_cwnd > Bytes(0)),
      quick_adapt_(!config.disable_qa),
      configured_base_rtt_(Or(config.base_rtt, flow.base_rtt)),
      target_(std::max(
          Or(config.target_delay, Scaled(configured_base_rtt_, flow.trimming ? 0.75 : 1.0)),
          Duration(1))),
      qa_threshold_(Or(config.qa_threshold, QaThreshold(flow, configured_base_rtt_, target_))),
      adjust_period_(Or(config.adjust_period_threshold, configured_base_rtt_)),
      fi_delay_(config.fi_delay),
      stale_after_(4 * configured_base_rtt_),
      adjust_bytes_(Or(config.adjust_bytes_threshold, 8 * flow.mtu)),
      qa_gate_(config.qa_gate),
      gamma_(config.gamma),
      max_md_jump_(config.max_md_jump),
      delay_gain_(config.delay_gain),
      base_rtt_(configured_base_rtt_),
      max_cwnd_(Or(config.max_cwnd, Scaled(line_rate_ * base_rtt_, 1.5))) {
  const double a = Ratio(line_rate_ * base_rtt_, kReferenceBdp);
  const double b = Ratio(target_, kReferenceDelay);
  const double mtu = ToDouble(mtu_);
  alpha_ = 4 * a * b * mtu / ToDouble(target_);
  fi_ = Or(config.fi, 5 * a * mtu);
  eta_ = Or(config.eta, 0.15 * a * mtu);
  fi_scale_ = Or(config.fi_scale, 0.25 * a);
  max_cwnd_ = std::max(max_cwnd_, mtu_);
  cwnd_ = max_cwnd_;
}

void Nscc::OnAck(const AckSample& ack) {
  received_ += ack.newly_acked;
  achieved_ += ack.newly_acked;
  ignored_ += ack.newly_acked;
  if (ack.rtt <= Duration(0) || ack.host_stall) return;
  LearnBaseRtt(ack.rtt);
  const Duration delay = ack.rtt - base_rtt_;
  const bool marked = ack.newly_marked > Bytes(0);
  AverageDelay(delay, marked);
  if (QuickAdapt(ack.now, /*loss=*/false, marked, delay, ack.in_flight)) return;

  const Bytes unmarked = ack.newly_acked - ack.newly_marked;
  if (unmarked > Bytes(0)) Increase(unmarked, delay);
  if (marked && delay >= target_) Decrease(ack.now);
  if (received_ > adjust_bytes_ || ack.now >= next_adjust_) Adjust(ack.now);
  Clamp();
}

void Nscc::OnLoss(const LossSample& loss) {
  ignored_ += loss.lost;
  if (loss.cause == LossCause::kTrim || loss.cause == LossCause::kTrimLastHop) {
    AverageDelay(configured_base_rtt_, /*marked=*/true);
    qa_armed_ = true;
    if (QuickAdapt(loss.now, /*loss=*/true, /*marked=*/true, Duration(0), loss.in_flight)) return;
    // The receiver's credit already fits the last hop.
    if (loss.cause == LossCause::kTrimLastHop && credit_) return;
  }
  Reduce(loss.lost);
}

void Nscc::OnSpurious(const SpuriousSample& spurious) {
  cwnd_ += spurious.bytes;
  Clamp();
}

void Nscc::OnTimeout(const TimeoutSample& timeout) { Reduce(timeout.lost); }

void Nscc::OnResume(Time, Duration idle) {
  if (idle <= stale_after_) return;
  average_delay_ = 0;
  unmarked_at_no_delay_ = Bytes(0);
  fast_ = false;
}

void Nscc::Restore(const Snapshot& snapshot) {
  if (snapshot.min_rtt > Duration(0)) LearnBaseRtt(snapshot.min_rtt);
  cwnd_ = std::clamp(snapshot.window, mtu_, max_cwnd_);
}

void Nscc::LearnBaseRtt(Duration rtt) {
  if (rtt >= base_rtt_) return;
  base_rtt_ = rtt;
  if (!fixed_max_cwnd_) max_cwnd_ = std::max(Scaled(line_rate_ * base_rtt_, 1.5), mtu_);
}

void Nscc::AverageDelay(Duration delay, bool marked) {
  const bool empty_queue = !marked && delay > target_;  // it drained since the packet passed
  const double sample = empty_queue ? 0.25 * ToDouble(base_rtt_) : ToDouble(delay);
  average_delay_ += delay_gain_ * (sample - average_delay_);
}

// True: it acted, or this acknowledgement belongs to what was in flight when it did.
bool Nscc::QuickAdapt(Time now, bool loss, bool marked, Duration delay, Bytes in_flight) {
  if (!quick_adapt_) return false;
  bool done = false;
  if (ignored_ < to_ignore_ && marked) {
    done = true;
  } else if (now >= qa_end_) {
    const bool first_period = qa_end_ == kBefore;
    const bool called_for = qa_armed_ || loss || delay > qa_threshold_;
    if (!first_period && called_for && achieved_ < Bytes(max_cwnd_.count() >> qa_gate_)) {
      cwnd_ = std::max(achieved_, mtu_);
      to_ignore_ = in_flight;
      ignored_ = Bytes(0);
      qa_armed_ = false;
      done = true;
      ++counters_[0];
    }
    achieved_ = Bytes(0);
    qa_end_ = now + base_rtt_ + target_;
  }
  if (done) {
    inc_ = 0;
    received_ = Bytes(0);
  }
  return done;
}

void Nscc::Increase(Bytes n, Duration delay) {
  if (FastIncrease(n, delay)) return;
  if (delay < target_) {
    inc_ += alpha_ * ToDouble(n) * ToDouble(target_ - delay);
  } else {
    inc_ += fi_ * ToDouble(n);
  }
}

// Begins once a whole window met no queue.
bool Nscc::FastIncrease(Bytes n, Duration delay) {
  if (delay >= fi_delay_ || delay >= target_) {
    unmarked_at_no_delay_ = Bytes(0);
    fast_ = false;
    return false;
  }
  unmarked_at_no_delay_ += n;
  fast_ = fast_ || unmarked_at_no_delay_ > cwnd_;
  if (!fast_) return false;
  cwnd_ += Scaled(n, fi_scale_);
  ++counters_[2];
  return true;
}

void Nscc::Decrease(Time now) {
  fast_ = false;
  unmarked_at_no_delay_ = Bytes(0);
  const double target = ToDouble(target_);
  if (average_delay_ <= target || now <= next_cut_) return;
  cwnd_ = Scaled(cwnd_,
                 std::max(1 - gamma_ * (average_delay_ - target) / average_delay_, max_md_jump_));
  next_cut_ = now + base_rtt_;
  ++counters_[1];
}

void Nscc::Adjust(Time now) {
  Clamp();
  cwnd_ += Bytes(static_cast<int64_t>(inc_ / ToDouble(cwnd_)));
  if (now >= next_adjust_) {
    cwnd_ += Bytes(static_cast<int64_t>(eta_));
    next_adjust_ = now + adjust_period_;
  }
  inc_ = 0;
  received_ = Bytes(0);
}

void Nscc::Reduce(Bytes n) {
  cwnd_ -= n;
  Clamp();
}

}  // namespace weir
