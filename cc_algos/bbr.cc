#include "cc_algos/bbr.h"

#include <algorithm>

#include "datapath/api/rng.h"

namespace weir {
namespace {

constexpr double kGrowth = 1.25;  // of the delivery rate, in a round of startup
constexpr int kFullRounds = 3;    // without it: the pipe is full
constexpr uint32_t kPhases = 8;   // of the cycle that probes for bandwidth

double PerNano(Rate rate) { return static_cast<double>(rate.count()) / 8e9; }

}  // namespace

Bbr::Bbr(const FlowInfo& flow, const Config& config)
    : startup_gain_(config.startup_gain),
      window_gain_(config.window_gain),
      probe_gain_(config.probe_gain),
      bw_rounds_(static_cast<size_t>(config.bw_rounds)),
      rtt_interval_(Scaled(flow.base_rtt, config.rtt_interval)),
      rtt_time_(Scaled(flow.base_rtt, config.rtt_time)),
      stale_after_(4 * flow.base_rtt),
      line_rate_(PerNano(flow.line_rate)),
      min_window_(Scaled(flow.mtu, config.min_window)),
      first_window_(std::max(Scaled(flow.bdp(), config.initial_window), min_window_)),
      seed_(flow.seed),
      min_rtt_(flow.base_rtt) {
  SetAllowance();
}

void Bbr::OnAck(const AckSample& ack) {
  delivered_ += ack.newly_acked;
  limited_ = limited_ || ack.limit == Limit::kApplication;
  if (ack.rtt > Duration(0) && !ack.host_stall) SeeRtt(ack.now, ack.rtt);
  if (ack.round != round_) {
    round_ = ack.round;
    EndRound(ack.now);
  }
  Advance(ack);
  SetAllowance();
}

void Bbr::OnTimeout(const TimeoutSample&) {
  timed_out_ = true;
  SetAllowance();
}

void Bbr::OnResume(Time, Duration idle) {
  round_start_ = Time::Never();  // the pause is no part of a round
  if (idle > stale_after_) {
    rates_seen_ = 0;
    bandwidth_ = 0;
    state_ = State::kStartup;
    full_rate_ = 0;
    full_rounds_ = 0;
    pipe_full_ = false;
  }
  SetAllowance();
}

Snapshot Bbr::snapshot() const {
  return {.window = allowance_.window, .rate = allowance_.rate, .min_rtt = min_rtt_};
}

void Bbr::Restore(const Snapshot& snapshot) {
  first_window_ = std::clamp(snapshot.window, min_window_, first_window_);
  SetAllowance();
}

double Bbr::pacing_gain() const {
  switch (state_) {
    case State::kStartup:
      return startup_gain_;
    case State::kDrain:
      return 1 / startup_gain_;
    case State::kProbeBandwidth:
      return phase_ == 0 ? probe_gain_ : phase_ == 1 ? 2 - probe_gain_ : 1;
    case State::kProbeRtt:
      return 1;
  }
  return 1;
}

double Bbr::Bdp() const { return bandwidth_ * static_cast<double>(min_rtt_.count()); }

void Bbr::SeeRtt(Time now, Duration rtt) {
  const bool known = min_rtt_at_ != Time::Never();
  const bool out_of_date = known && now - min_rtt_at_ > rtt_interval_;
  if (out_of_date && state_ != State::kProbeRtt && bandwidth_ > 0) {
    state_ = State::kProbeRtt;
    probe_end_ = Time::Never();
    ++counters_[0];
  }
  if (!out_of_date && rtt > min_rtt_) {
    if (!known) min_rtt_at_ = now;
    return;
  }
  min_rtt_ = rtt;
  min_rtt_at_ = now;
}

void Bbr::EndRound(Time now) {
  const bool measured = round_start_ != Time::Never() && now > round_start_;
  if (measured) {
    const double rate =
        static_cast<double>(delivered_.count()) / static_cast<double>((now - round_start_).count());
    if (limited_ && rate <= bandwidth_) {
      ++counters_[1];
    } else {
      KeepRate(std::min(rate, line_rate_));
      if (state_ == State::kStartup && !limited_) LookForFullPipe();
    }
  }
  round_start_ = now;
  delivered_ = Bytes(0);
  limited_ = timed_out_ = false;
}

void Bbr::KeepRate(double rate) {
  rates_[rates_seen_++ % bw_rounds_] = rate;
  const size_t kept = std::min(rates_seen_, bw_rounds_);
  bandwidth_ = *std::max_element(rates_.begin(), rates_.begin() + kept);
}

void Bbr::LookForFullPipe() {
  if (bandwidth_ >= full_rate_ * kGrowth) {
    full_rate_ = bandwidth_;
    full_rounds_ = 0;
  } else if (++full_rounds_ == kFullRounds) {
    pipe_full_ = true;
    state_ = State::kDrain;
  }
}

void Bbr::Advance(const AckSample& ack) {
  const auto in_flight = static_cast<double>(ack.in_flight.count());
  switch (state_) {
    case State::kStartup:
      return;
    case State::kDrain:
      if (in_flight <= Bdp()) StartCycle(ack.now);
      return;
    case State::kProbeBandwidth:
      return AdvanceCycle(ack);
    case State::kProbeRtt:
      if (probe_end_ == Time::Never() && ack.in_flight <= min_window_) {
        probe_end_ = ack.now + rtt_time_;
      }
      if (ack.now >= probe_end_) LeaveProbeRtt(ack.now);
      return;
  }
}

void Bbr::AdvanceCycle(const AckSample& ack) {
  const auto in_flight = static_cast<double>(ack.in_flight.count());
  bool over = ack.now - phase_start_ > min_rtt_;
  if (phase_ == 0) over = over && (lost_in_phase_ || in_flight >= probe_gain_ * Bdp());
  if (phase_ == 1) over = over || in_flight <= Bdp();
  if (!over) return;
  phase_ = (phase_ + 1) % kPhases;
  phase_start_ = ack.now;
  lost_in_phase_ = false;
}

void Bbr::LeaveProbeRtt(Time now) {
  min_rtt_at_ = now;
  if (pipe_full_) {
    StartCycle(now);
  } else {
    state_ = State::kStartup;
  }
}

// Anywhere but in the phase that gives back, which has nothing to give back yet.
void Bbr::StartCycle(Time now) {
  state_ = State::kProbeBandwidth;
  seed_ = Mix64(seed_);
  phase_ = (2 + static_cast<uint32_t>(seed_ % (kPhases - 1))) % kPhases;
  phase_start_ = now;
  lost_in_phase_ = false;
}

void Bbr::SetAllowance() {
  const bool small = state_ == State::kProbeRtt || timed_out_;
  if (bandwidth_ == 0) {
    allowance_ = {.window = small ? min_window_ : first_window_,
                  .rate = Rate(static_cast<int64_t>(line_rate_ * 8e9))};
    return;
  }
  const double gain = state_ == State::kProbeBandwidth ? window_gain_ : startup_gain_;
  const auto window = Bytes(static_cast<int64_t>(gain * Bdp()));
  allowance_.window = small ? min_window_ : std::max(window, min_window_);
  const double bits_per_second = pacing_gain() * bandwidth_ * 8e9;
  allowance_.rate = Rate(std::max(static_cast<int64_t>(bits_per_second), int64_t{1}));
}

}  // namespace weir
