#include "cc_algos/homa.h"

#include <algorithm>

namespace weir {
namespace {

// The sender begins anew after one round trip. If we take a pause for less than it was, a little
// too much is granted; the other way round it would seem to owe us what it never got.
constexpr int kPauseRtts = 2;

}  // namespace

Homa::Homa(const FlowInfo& flow, const Config& config)
    : CreditSender(flow.mtu,
                   {.speculative = std::max(Scaled(flow.bdp(), config.unscheduled), flow.mtu),
                    .most = Bytes::Max(),
                    .demand = Bytes::Max(),
                    .window = Bytes::Max(),
                    .slack = flow.mtu,
                    .keeps = true}),
      base_rtt_(flow.base_rtt) {}

CreditScheduler* Homa::NewScheduler(const CreditInfo& info, const ConfigBlob& config) {
  return new HomaScheduler(info, config.As<Config>());
}

void Homa::OnResume(Time, Duration idle) {
  if (idle >= base_rtt_) SpeculateAgain();
}

HomaScheduler::HomaScheduler(const CreditInfo& info, const Homa::Config& config)
    : mtu_(info.mtu),
      base_rtt_(info.base_rtt),
      unscheduled_(std::max(Scaled(info.line_rate * info.base_rtt, config.unscheduled), info.mtu)),
      max_incoming_(
          std::max(Scaled(info.line_rate * info.base_rtt, config.max_incoming), 2 * info.mtu)),
      overcommit_(static_cast<size_t>(config.overcommit)),
      fifo_share_(config.fifo_share),
      resend_(config.resend),
      senders_(info.connections),
      rings_(info.connections) {}

void HomaScheduler::OnDemand(Time, CreditFlow flow, Bytes ask) {
  senders_[flow].asked = ask;
  rings_.Put(flow, ask > Bytes(0) ? kWaiting : kRings);
}

void HomaScheduler::OnData(const DataArrival& arrival) {
  Sender& sender = senders_[arrival.flow];
  if (sender.asked == Bytes(0)) {
    sender.outstanding.MayBegin(arrival.now, kPauseRtts * base_rtt_, unscheduled_);
  }
  incoming_ -= sender.outstanding.Arrive(arrival.now, arrival.size);
  sender.silent = false;
}

void HomaScheduler::OnDone(Time, CreditFlow flow) {
  rings_.Put(flow, kRings);
  incoming_ -= senders_[flow].outstanding.WriteOff();
  senders_[flow] = {};
}

Grant HomaScheduler::NextGrant(Time now) {
  const Time again = WriteOff(now);
  const Bytes room = max_incoming_ - incoming_;
  if (rings_.first(kWaiting) == kNoFlow || room < mtu_) return {.again = again};
  if (fifo_due_ >= mtu_) {
    fifo_due_ -= mtu_;
    return Give(now, rings_.first(kWaiting), mtu_);
  }
  Rank();
  const Bytes window = std::max(max_incoming_ / static_cast<int64_t>(actives_ + 1), mtu_);
  for (size_t i = 0; i < actives_; ++i) {
    if (senders_[active_[i]].outstanding.bytes() + mtu_ > window) continue;
    return Give(now, active_[i], mtu_);
  }
  return {.again = again};
}

bool HomaScheduler::Before(CreditFlow a, CreditFlow b) const {
  if (senders_[a].silent != senders_[b].silent) return senders_[b].silent;
  return Remaining(a) < Remaining(b);
}

// The `overcommit` first by remaining bytes; of equals who waited longer.
void HomaScheduler::Rank() {
  actives_ = 0;
  const CreditFlow first = rings_.first(kWaiting);
  CreditFlow flow = first;
  do {
    size_t place = actives_;
    while (place > 0 && Before(flow, active_[place - 1])) --place;
    if (place < overcommit_) {
      actives_ = std::min(actives_ + 1, overcommit_);
      for (size_t i = actives_ - 1; i > place; --i) active_[i] = active_[i - 1];
      active_[place] = flow;
    }
    flow = rings_.next(flow);
  } while (flow != first);
}

Grant HomaScheduler::Give(Time now, CreditFlow flow, Bytes most) {
  Sender& sender = senders_[flow];
  const Bytes granted = std::min(most, sender.asked);
  sender.asked -= granted;
  sender.outstanding.Grant(now, granted);
  incoming_ += granted;
  fifo_due_ += Scaled(granted, fifo_share_);
  if (sender.asked == Bytes(0)) rings_.Put(flow, kRings);
  return {.flow = flow, .bytes = granted, .again = now + Duration(1)};
}

// Returns when to look again.
Time HomaScheduler::WriteOff(Time now) {
  Time next = Time::Never();
  const CreditFlow first = rings_.first(kWaiting);
  if (first == kNoFlow) return next;
  CreditFlow flow = first;
  do {
    Sender& sender = senders_[flow];
    if (sender.outstanding.due(resend_) <= now) {
      incoming_ -= sender.outstanding.WriteOff();
      sender.silent = true;
    }
    next = std::min(next, sender.outstanding.due(resend_));
    flow = rings_.next(flow);
  } while (flow != first);
  return next;
}

}  // namespace weir
