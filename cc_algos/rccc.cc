#include "cc_algos/rccc.h"

namespace weir {

Rccc::Rccc(const FlowInfo& flow, const Config& config)
    : CreditSender(flow.mtu, LimitsOf(flow, config)) {}

CreditSender::Limits Rccc::LimitsOf(const FlowInfo& flow, const Config& config) {
  const Bytes most = std::max(Scaled(flow.bdp(), config.max_window), flow.mtu);
  const Bytes first = Scaled(flow.bdp(), config.speculative_window);
  return {.speculative = std::clamp(first, flow.mtu, most),
          .most = most,
          .demand = most,
          .window = most};
}

CreditScheduler* Rccc::NewScheduler(const CreditInfo& info, const ConfigBlob& config) {
  return new RcccScheduler(info, config.As<Config>());
}

RcccScheduler::RcccScheduler(const CreditInfo& info, const Rccc::Config& config)
    : mtu_(info.mtu),
      max_window_(std::max(Scaled(info.line_rate * info.base_rtt, config.max_window), mtu_)),
      idle_ahead_(Scaled(info.line_rate * info.base_rtt, config.idle_ahead)),
      quantum_(config.quantum),
      pacer_(std::max(Scaled(info.line_rate, config.pacer_share), Rate(1)), quantum_),
      senders_(info.connections),
      rings_(info.connections) {}

void RcccScheduler::OnDemand(Time, CreditFlow flow, Bytes ask) {
  Sender& sender = senders_[flow];
  sender.asked = std::min(ask, max_window_);
  if (ask > Bytes(0)) sender.ahead = Bytes(0);  // it wants more than all it was given
  Settle(flow);
}

void RcccScheduler::OnData(const DataArrival& arrival) {
  Sender& sender = senders_[arrival.flow];
  sender.ahead = std::max(sender.ahead - arrival.size, Bytes(0));
  if (arrival.trimmed) sender.trimmed = std::min(sender.trimmed + mtu_, max_window_);
  Settle(arrival.flow);
}

void RcccScheduler::OnDone(Time, CreditFlow flow) {
  rings_.Put(flow, kRings);
  senders_[flow] = {};
}

Grant RcccScheduler::NextGrant(Time now) {
  const Ring ring = rings_.first(kWaiting) != kNoFlow ? kWaiting : kIdle;
  if (rings_.first(ring) == kNoFlow) return {};
  if (now < pacer_.free_at()) return {.again = pacer_.free_at()};
  const CreditFlow flow = rings_.TakeTurn(ring);
  const Bytes granted = Serve(senders_[flow]);
  Settle(flow);
  pacer_.Book(now, granted);
  const bool more = rings_.first(kWaiting) != kNoFlow || rings_.first(kIdle) != kNoFlow;
  return {.flow = flow,
          .bytes = granted,
          .again = more ? std::max(pacer_.free_at(), now + Duration(1)) : Time::Never()};
}

// A sender is out until its first packet, and again once it has all that is granted ahead.
void RcccScheduler::Settle(CreditFlow flow) {
  const Sender& sender = senders_[flow];
  Ring ring = kRings;
  if (Demand(sender) > Bytes(0)) {
    ring = kWaiting;
  } else if (sender.ahead < idle_ahead_) {
    ring = kIdle;
  }
  rings_.Put(flow, ring);
}

// One grant serves what was asked and what was trimmed alike: a sender asks for its trimmed packets
// as soon as it hears of them.
Bytes RcccScheduler::Serve(Sender& sender) {
  const Bytes demand = Demand(sender);
  if (demand == Bytes(0)) {
    const Bytes granted = std::min(quantum_, idle_ahead_ - sender.ahead);
    sender.ahead += granted;
    return granted;
  }
  const Bytes granted = std::min(quantum_, demand);
  sender.asked = std::max(sender.asked - granted, Bytes(0));
  sender.trimmed = std::max(sender.trimmed - granted, Bytes(0));
  return granted;
}

}  // namespace weir
