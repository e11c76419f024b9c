#include "cc_algos/eqds.h"

#include <algorithm>

namespace weir {

Eqds::Eqds(const FlowInfo& flow, const Config& config)
    : CreditSender(flow.mtu, LimitsOf(flow, config)), base_rtt_(flow.base_rtt) {}

CreditSender::Limits Eqds::LimitsOf(const FlowInfo& flow, const Config& config) {
  const Bytes most = std::max(Scaled(flow.bdp(), config.max_window), flow.mtu);
  const Bytes first = Scaled(flow.bdp(), config.speculative_window);
  return {.speculative = std::clamp(first, flow.mtu, most),
          .most = most,
          .demand = most,
          .window = most,
          .slack = flow.mtu};
}

CreditScheduler* Eqds::NewScheduler(const CreditInfo& info, const ConfigBlob& config) {
  return new EqdsScheduler(info, config.As<Config>());
}

void Eqds::OnResume(Time, Duration idle) {
  if (idle >= base_rtt_) SpeculateAgain();
}

EqdsScheduler::EqdsScheduler(const CreditInfo& info, const Eqds::Config& config)
    : mtu_(info.mtu),
      max_window_(std::max(Scaled(info.line_rate * info.base_rtt, config.max_window), mtu_)),
      quantum_(config.quantum),
      stop_share_(config.stop_share),
      base_rtt_(info.base_rtt),
      pacer_(std::max(Scaled(info.line_rate, config.pacer_share), Rate(1)), quantum_),
      senders_(info.connections),
      rings_(info.connections) {}

void EqdsScheduler::OnDemand(Time now, CreditFlow flow, Bytes ask) {
  senders_[flow].asked = std::min(ask, max_window_);
  Settle(now, flow);
}

void EqdsScheduler::OnData(const DataArrival& arrival) {
  Sender& sender = senders_[arrival.flow];
  if (arrival.trimmed) sender.trimmed = std::min(sender.trimmed + mtu_, max_window_);
  sender.arrived += arrival.size;
  if (arrival.marked) sender.marked += arrival.size;
  if (arrival.now >= sender.since + base_rtt_) {
    if (Ratio(sender.marked, sender.arrived) > stop_share_) {
      sender.stopped_until = arrival.now + base_rtt_;
    }
    sender.arrived = sender.marked = Bytes(0);
    sender.since = arrival.now;
  }
  Settle(arrival.now, arrival.flow);
}

void EqdsScheduler::OnDone(Time, CreditFlow flow) {
  rings_.Put(flow, kRings);
  senders_[flow] = {};
}

Grant EqdsScheduler::NextGrant(Time now) {
  // One base RTT for all: who stopped first goes on first.
  for (CreditFlow flow = rings_.first(kStopped);
       flow != kNoFlow && senders_[flow].stopped_until <= now; flow = rings_.first(kStopped)) {
    Settle(now, flow);
  }
  const CreditFlow stopped = rings_.first(kStopped);
  const Time goes_on = stopped == kNoFlow ? Time::Never() : senders_[stopped].stopped_until;
  if (rings_.first(kWaiting) == kNoFlow) return {.again = goes_on};
  if (now < pacer_.free_at()) return {.again = pacer_.free_at()};
  const CreditFlow flow = rings_.TakeTurn(kWaiting);
  Sender& sender = senders_[flow];
  const Bytes granted = std::min(quantum_, Demand(sender));
  sender.asked = std::max(sender.asked - granted, Bytes(0));
  sender.trimmed = std::max(sender.trimmed - granted, Bytes(0));
  Settle(now, flow);
  pacer_.Book(now, granted);
  const bool more = rings_.first(kWaiting) != kNoFlow;
  return {.flow = flow,
          .bytes = granted,
          .again = more ? std::max(pacer_.free_at(), now + Duration(1)) : goes_on};
}

void EqdsScheduler::Settle(Time now, CreditFlow flow) {
  const Sender& sender = senders_[flow];
  if (Demand(sender) == Bytes(0)) return rings_.Put(flow, kRings);
  rings_.Put(flow, sender.stopped_until > now ? kStopped : kWaiting);
}

}  // namespace weir
