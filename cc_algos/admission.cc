#include "cc_algos/admission.h"

#include <algorithm>

namespace weir {

Admission::Admission(const FlowInfo& flow, const Config& config)
    : CreditSender(flow.mtu, {.speculative = Bytes(0),
                              .most = Bytes::Max(),
                              .demand = Bytes::Max(),
                              .window = std::max(Scaled(flow.bdp(), config.window), flow.mtu),
                              .slack = flow.mtu}) {}

CreditScheduler* Admission::NewScheduler(const CreditInfo& info, const ConfigBlob& config) {
  return new AdmissionScheduler(info, config.As<Config>());
}

AdmissionScheduler::AdmissionScheduler(const CreditInfo& info, const Admission::Config& config)
    : chunk_(std::max(config.chunk, info.mtu)),
      most_(chunk_ * config.chunks),
      silence_(config.silence),
      senders_(info.connections),
      rings_(info.connections) {}

void AdmissionScheduler::OnDemand(Time, CreditFlow flow, Bytes ask) {
  senders_[flow].asked = ask;
  Settle(flow);
}

void AdmissionScheduler::OnData(const DataArrival& arrival) {
  senders_[arrival.flow].cleared.Arrive(arrival.now, arrival.size);
  Settle(arrival.flow);
}

void AdmissionScheduler::OnDone(Time, CreditFlow flow) {
  rings_.Put(flow, kRings);
  senders_[flow] = {};
}

Grant AdmissionScheduler::NextGrant(Time now) {
  if (rings_.first(kWaiting) == kNoFlow) {
    // Those who have all buffers cleared, and use none?
    Time next = Time::Never();
    CreditFlow flow = rings_.first(kFull);
    if (flow == kNoFlow) return {};
    do {
      next = std::min(next, senders_[flow].cleared.due(silence_));
      flow = rings_.next(flow);
    } while (flow != rings_.first(kFull) && next > now);
    if (next > now) return {.again = next};
    flow = rings_.first(kFull);
    while (senders_[flow].cleared.due(silence_) > now) flow = rings_.next(flow);
    senders_[flow].cleared.WriteOff();
    Settle(flow);
  }
  const CreditFlow flow = rings_.TakeTurn(kWaiting);
  Sender& sender = senders_[flow];
  const Bytes cleared = std::min(chunk_, sender.asked);
  sender.asked -= cleared;
  sender.cleared.Grant(now, cleared);
  Settle(flow);
  return {.flow = flow, .bytes = cleared, .again = now + Duration(1)};
}

void AdmissionScheduler::Settle(CreditFlow flow) {
  const Sender& sender = senders_[flow];
  if (sender.asked == Bytes(0)) return rings_.Put(flow, kRings);
  const Bytes next = std::min(chunk_, sender.asked);
  rings_.Put(flow, sender.cleared.bytes() + next <= most_ ? kWaiting : kFull);
}

}  // namespace weir
