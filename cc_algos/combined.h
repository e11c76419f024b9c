// Two algorithms at once: each hears every event, and the tighter limit holds.
//
//   window = min(A, B)   rate = min(A, B)   credit = min(A, B)
//   credit wanted = max(A, B), of a backlog of at most window + one MTU
//
// A sender asks for no more credit than its window would let it use, so that a path congested in
// the core does not draw credit away from senders that could use it.
//
// Source: UEC 1.0 section 3.6.14, for NSCC with RCCC; uet-htsim `uec.cpp`, computePullTarget.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

#include "datapath/api/congestion_control.h"

namespace weir {

template <class A, class B>
struct CombinedConfig {
  typename A::Config a;
  typename B::Config b;
};

// The rows of both halves, each moved to where that half's Config lies. Their names must differ.
template <class A, class B>
struct CombinedTables {
  using Config = CombinedConfig<A, B>;

  static constexpr auto Params() {
    constexpr auto a = MovedParams<&Config::a, std::size(A::kParams), A::kParams>();
    constexpr auto b = MovedParams<&Config::b, std::size(B::kParams), B::kParams>();
    std::array<ParamSpec, a.size() + b.size()> all{};
    std::copy(b.begin(), b.end(), std::copy(a.begin(), a.end(), all.begin()));
    return all;
  }
  static constexpr auto Counters() {
    std::array<CounterSpec, std::size(A::kCounters) + std::size(B::kCounters)> all{};
    const auto middle = std::copy(std::begin(A::kCounters), std::end(A::kCounters), all.begin());
    std::copy(std::begin(B::kCounters), std::end(B::kCounters), middle);
    return all;
  }
};

// B is the half with a receiver side.
template <class A, class B>
class Combined final : public CongestionControl {
 public:
  using Config = CombinedConfig<A, B>;
  static constexpr auto kParams = CombinedTables<A, B>::Params();
  static constexpr auto kCounters = CombinedTables<A, B>::Counters();

  static CreditScheduler* NewScheduler(const CreditInfo& info, const ConfigBlob& config) {
    return B::kReceiverHalf.create(info, ConfigBlob::Of(config.As<Config>().b));
  }
  static constexpr CreditEntry kReceiverHalf{B::kReceiverHalf.id, B::kReceiverHalf.name,
                                             &NewScheduler};

  Combined(const FlowInfo& flow, const Config& config)
      : mtu_(flow.mtu), a_(flow, config.a), b_(flow, config.b) {}

  void OnSend(const SendSample& send) override { a_.OnSend(send), b_.OnSend(send); }
  void OnAck(const AckSample& ack) override { a_.OnAck(ack), b_.OnAck(ack); }
  void OnLoss(const LossSample& loss) override { a_.OnLoss(loss), b_.OnLoss(loss); }
  void OnSpurious(const SpuriousSample& s) override { a_.OnSpurious(s), b_.OnSpurious(s); }
  void OnTimeout(const TimeoutSample& t) override { a_.OnTimeout(t), b_.OnTimeout(t); }
  void OnCnp(Time now) override { a_.OnCnp(now), b_.OnCnp(now); }
  void OnCredit(Time now, Bytes granted) override {
    a_.OnCredit(now, granted), b_.OnCredit(now, granted);
  }
  void OnTimer(Time now) override {
    if (now >= a_.timer()) a_.OnTimer(now);
    if (now >= b_.timer()) b_.OnTimer(now);
  }
  void OnProbe(const ProbeSample& probe) override { a_.OnProbe(probe), b_.OnProbe(probe); }
  void OnIdle(Time now) override { a_.OnIdle(now), b_.OnIdle(now); }
  void OnResume(Time now, Duration idle) override {
    a_.OnResume(now, idle), b_.OnResume(now, idle);
  }

  Time timer() const override { return std::min(a_.timer(), b_.timer()); }
  Duration probe_interval() const override {
    const Duration a = a_.probe_interval();
    const Duration b = b_.probe_interval();
    return a == Duration(0) || (b > Duration(0) && b < a) ? b : a;
  }
  bool CreditPilesUp(const CreditHeld& held) const override {
    return a_.CreditPilesUp(held) || b_.CreditPilesUp(held);
  }
  Bytes CreditWanted(Bytes backlog) const override {
    const Bytes usable =
        std::min(backlog, std::min(a_.allowance().window, b_.allowance().window) + mtu_);
    return std::max(a_.CreditWanted(usable), b_.CreditWanted(usable));
  }
  Allowance allowance() const override {
    const Allowance a = a_.allowance();
    const Allowance b = b_.allowance();
    return {.window = std::min(a.window, b.window),
            .rate = std::min(a.rate, b.rate),
            .credit = std::min(a.credit, b.credit)};
  }

  Snapshot snapshot() const override {
    Snapshot both = a_.snapshot();
    both.window = allowance().window;
    both.rate = allowance().rate;
    return both;
  }
  void Restore(const Snapshot& snapshot) override { a_.Restore(snapshot), b_.Restore(snapshot); }
  std::span<const uint64_t> counters() const override {
    const auto a = a_.counters();
    const auto b = b_.counters();
    const auto middle = std::copy(a.begin(), a.end(), counters_.begin());
    std::copy(b.begin(), b.end(), middle);
    return counters_;
  }

 private:
  Bytes mtu_;
  A a_;
  B b_;
  mutable std::array<uint64_t, std::size(kCounters)> counters_{};  // both halves' copied together
};

}  // namespace weir
