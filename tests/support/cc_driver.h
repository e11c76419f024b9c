// Feeds a congestion-control algorithm a legal history: time never goes back, bytes in flight add
// up, rounds follow the bytes, and timers fire when due. The connection sends what it is allowed.
#pragma once

#include <algorithm>
#include <array>

#include "datapath/api/congestion_control.h"
#include "datapath/api/rng.h"

namespace weir {

// The reference point of this project's sums: BDP 150 kB.
inline constexpr FlowInfo kTestFlow = {
    .mtu = Bytes(4096), .line_rate = Gbps(100), .base_rtt = Micros(12), .seed = 1};

class CcDriver {
 public:
  static constexpr uint32_t kAllEvents = kCcSend | kCcCnp | kCcCredit | kCcTimer | kCcProbe;

  explicit CcDriver(CongestionControl& cc, const FlowInfo& flow = kTestFlow,
                    uint32_t events = kAllEvents)
      : cc_(cc), flow_(flow), events_(events) {}

  Time now() const { return now_; }
  int64_t round() const { return round_; }
  Bytes in_flight() const { return in_flight_; }
  int timer_loops() const { return timer_loops_; }  // times OnTimer left timer() in the past

  struct RoundOptions {
    Bytes acked{};
    Bytes marked{};
    Duration rtt{};  // 0: the base RTT
  };
  // What acknowledgements from here on tell beside bytes and times.
  struct View {
    std::span<const SwitchRecord> telemetry{};
    double path_load = 0;
    int receiver_level = 0;
    PathId path = 0;
  };
  void See(const View& view) { view_ = view; }

  // A whole window goes out and comes back in one acknowledgement.
  void Round(const RoundOptions& r) {
    const Duration rtt = r.rtt > Duration(0) ? r.rtt : flow_.base_rtt;
    Send(r.acked);
    Advance(rtt);
    Ack(r.acked, r.marked, rtt);
  }

  void Advance(Duration d) {
    const Time end = now_ + d;
    while (cc_.timer() <= end) {
      now_ = std::max(now_, cc_.timer());
      if (!FireTimer()) break;
    }
    now_ = end;
  }

  void Send(Bytes size, bool retransmit = false) {
    in_flight_ += size;
    sent_ += size;
    if ((events_ & kCcSend) != 0) {
      cc_.OnSend({.now = now_, .size = size, .in_flight = in_flight_, .retransmit = retransmit});
    }
  }

  void Ack(Bytes acked, Bytes marked, Duration rtt, Limit limit = Limit::kWindow,
           bool host_stall = false) {
    Settle(acked);
    timeouts_ = 0;
    cc_.OnAck({.now = now_,
               .round = round_,
               .newly_acked = acked,
               .newly_marked = marked,
               .in_flight = in_flight_,
               .rtt = rtt,
               .limit = limit,
               .host_stall = host_stall,
               .path = view_.path,
               .telemetry = view_.telemetry,
               .path_load = view_.path_load,
               .receiver_level = view_.receiver_level});
  }

  void Probe(Duration rtt, bool marked = false) {
    if ((events_ & kCcProbe) == 0) return;
    cc_.OnProbe({.now = now_, .rtt = rtt, .marked = marked, .path = view_.path});
  }

  void Lose(Bytes lost, LossCause cause, bool marked = false) {
    Settle(lost);
    lost_ += lost;
    cc_.OnLoss({.now = now_,
                .round = round_,
                .lost = lost,
                .in_flight = in_flight_,
                .cause = cause,
                .marked = marked});
  }

  void Timeout() {
    const Bytes lost = in_flight_;
    Settle(lost);
    cc_.OnTimeout({.now = now_, .round = round_, .lost = lost, .consecutive = ++timeouts_});
  }

  // One legal event, after a pause of up to two base RTTs. A third of the time the network is calm:
  // no marks, no losses, hardly any queue.
  void RandomEvent(Rng& rng) {
    const Duration rtt = flow_.base_rtt;
    if (rng.Chance(0.3)) Advance(Scaled(rtt, 2 * rng.Unit()));
    if (rng.Chance(calm_ ? 0.01 : 0.005)) calm_ = !calm_;
    const uint32_t kind = rng.Below(calm_ ? 75 : 100);
    if (kind < 35) return RandomSends(rng);
    if (kind < 75) return RandomAck(rng);
    if (kind < 83) return RandomLoss(rng);
    if (kind < 85) return RandomSpurious(rng);
    if (kind < 87) return RandomTimeout(rng);
    if (kind < 92) return Cnp();
    if (kind < 96) return Credit(flow_.mtu * (1 + rng.Below(8)));
    if (kind < 98) return Probe(RandomRtt(rng), rng.Chance(0.3));
    Idle(rng);
  }

 private:
  bool FireTimer() {
    if ((events_ & kCcTimer) == 0) return false;
    cc_.OnTimer(now_);
    if (cc_.timer() > now_) return true;
    ++timer_loops_;
    return false;
  }

  // `n` bytes are no longer in flight; a round ends with data sent after the last one ended.
  void Settle(Bytes n) {
    in_flight_ -= n;
    settled_ += n;
    if (settled_ <= round_end_) return;
    ++round_;
    round_end_ = sent_;
  }

  Bytes AnyPart(Rng& rng, Bytes whole) {
    return Bytes(1 + static_cast<int64_t>(rng.Unit() * static_cast<double>(whole.count() - 1)));
  }

  void RandomSends(Rng& rng) {
    for (uint32_t left = 1 + rng.Below(16); left > 0; --left) {
      const Bytes size = rng.Chance(0.9) ? flow_.mtu : AnyPart(rng, flow_.mtu);
      const Allowance may = cc_.allowance();
      if (in_flight_ > Bytes(0) && in_flight_ + size > may.window) return;
      if (size > may.credit) return;
      Send(size, rng.Chance(0.1));
    }
  }

  void RandomAck(Rng& rng) {
    if (in_flight_ == Bytes(0)) return;
    const Bytes most = rng.Chance(0.9) ? std::min(in_flight_, 4 * flow_.mtu) : in_flight_;
    const Bytes acked = AnyPart(rng, most);
    const uint32_t kind = calm_ ? 0 : rng.Below(3);
    const Bytes marked = kind == 0 ? Bytes(0) : kind == 1 ? acked : AnyPart(rng, acked);
    const Duration rtt = rng.Chance(0.1) ? Duration(0) : RandomRtt(rng);
    RandomView(rng);
    Ack(acked, marked, rtt, static_cast<Limit>(rng.Below(5)), rng.Chance(0.05));
  }

  // From a twentieth below the base RTT to eight above it, often close to it.
  Duration RandomRtt(Rng& rng) {
    const double stretch = calm_ || rng.Chance(0.5) ? 0.95 + 0.1 * rng.Unit() : 1 + 8 * rng.Unit();
    return std::max(Scaled(flow_.base_rtt, stretch), Duration(1));
  }

  // Two hops, whose clocks are not ours; one of them changes now and then, and some packets carry
  // no record of it.
  void RandomView(Rng& rng) {
    if (rng.Chance(0.05)) ++hops_[rng.Below(2)].hop;
    for (SwitchRecord& hop : hops_) {
      const Time stamp = now_ + Seconds(7);
      const Duration since = std::min(stamp - hop.stamp, Seconds(1));
      hop.stamp = stamp;
      hop.rate = flow_.line_rate;
      hop.transmitted += Scaled(flow_.line_rate * since, rng.Unit());
      hop.queue = calm_ ? Bytes(0) : Scaled(flow_.bdp(), 2 * rng.Unit());
    }
    view_ = {.telemetry = std::span(hops_).first(rng.Chance(0.1) ? rng.Below(2) : 2),
             .path_load = rng.Chance(0.1) ? 0 : (calm_ ? 1 : 2) * rng.Unit(),
             .receiver_level = static_cast<int>(rng.Below(calm_ ? 4 : 32)),
             .path = static_cast<PathId>(rng.Below(16))};
  }

  void RandomLoss(Rng& rng) {
    if (in_flight_ == Bytes(0)) return;
    const Bytes lost = AnyPart(rng, std::min(in_flight_, 2 * flow_.mtu));
    Lose(lost, static_cast<LossCause>(rng.Below(4)), rng.Chance(0.5));
  }

  void RandomSpurious(Rng& rng) {
    if (lost_ == Bytes(0)) return;
    const Bytes found = AnyPart(rng, lost_);
    lost_ -= found;
    cc_.OnSpurious({.now = now_, .round = round_, .bytes = found});
  }

  void RandomTimeout(Rng& rng) {
    if (in_flight_ == Bytes(0)) return;
    Advance(8 * flow_.base_rtt);
    Timeout();
    if (!rng.Chance(0.3)) return;
    for (int again = 0; again < 6; ++again) {
      Send(flow_.mtu, /*retransmit=*/true);
      Advance(8 * flow_.base_rtt);
      Timeout();
    }
  }

  void Cnp() {
    if ((events_ & kCcCnp) != 0) cc_.OnCnp(now_);
  }
  void Credit(Bytes granted) {
    if ((events_ & kCcCredit) != 0) cc_.OnCredit(now_, granted);
  }

  void Idle(Rng& rng) {
    if (in_flight_ > Bytes(0)) return;
    cc_.OnIdle(now_);
    const Duration idle = Scaled(flow_.base_rtt, 50 * rng.Unit());
    Advance(idle);
    cc_.OnResume(now_, idle);
  }

  CongestionControl& cc_;
  FlowInfo flow_;
  uint32_t events_;
  Time now_{1'000'000};
  int64_t round_ = 0;
  Bytes in_flight_{};
  Bytes sent_{};
  Bytes settled_{};    // acknowledged or lost, of what was sent
  Bytes round_end_{};  // sent when the round began
  Bytes lost_{};       // might still turn out not to be
  int timeouts_ = 0;   // in a row
  bool calm_ = false;
  int timer_loops_ = 0;
  View view_;
  std::array<SwitchRecord, 2> hops_{};
};

}  // namespace weir
