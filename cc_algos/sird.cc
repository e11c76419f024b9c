#include "cc_algos/sird.h"

#include <algorithm>

namespace weir {
namespace {

// The sender begins anew after one round trip. If we take a pause for less than it was, a little
// too much is granted; the other way round it would seem to owe us what it never got.
constexpr int kPauseRtts = 2;

}  // namespace

Sird::Sird(const FlowInfo& flow, const Config& config)
    : CreditSender(flow.mtu,
                   {.speculative = std::max(Scaled(flow.bdp(), config.unscheduled), flow.mtu),
                    .most = Bytes::Max(),
                    .demand = Bytes::Max(),
                    .window = Bytes::Max(),
                    .slack = flow.mtu,
                    .keeps = true}),
      base_rtt_(flow.base_rtt),
      threshold_(Scaled(flow.bdp(), config.sender_threshold)) {}

CreditScheduler* Sird::NewScheduler(const CreditInfo& info, const ConfigBlob& config) {
  return new SirdScheduler(info, config.As<Config>());
}

void Sird::OnResume(Time, Duration idle) {
  if (idle >= base_rtt_) SpeculateAgain();
}

SirdScheduler::SirdScheduler(const CreditInfo& info, const Sird::Config& config)
    : mtu_(info.mtu),
      base_rtt_(info.base_rtt),
      unscheduled_(std::max(Scaled(info.line_rate * info.base_rtt, config.unscheduled), info.mtu)),
      bdp_(std::max(info.line_rate * info.base_rtt, info.mtu)),
      budget_(std::max(Scaled(bdp_, config.budget), info.mtu)),
      g_(config.g),
      order_(config.order),
      silence_(config.silence),
      senders_(info.connections),
      rings_(info.connections) {
  for (Sender& sender : senders_) sender.host.bucket = sender.fabric.bucket = bdp_;
}

void SirdScheduler::OnDemand(Time, CreditFlow flow, Bytes ask) {
  senders_[flow].asked = ask;
  rings_.Put(flow, ask > Bytes(0) ? kWaiting : kRings);
}

void SirdScheduler::OnData(const DataArrival& arrival) {
  Sender& sender = senders_[arrival.flow];
  if (sender.asked == Bytes(0)) {
    sender.outstanding.MayBegin(arrival.now, kPauseRtts * base_rtt_, unscheduled_);
  }
  outstanding_ -= sender.outstanding.Arrive(arrival.now, arrival.size);
  Step(sender.host, arrival.size, arrival.piles_up);
  Step(sender.fabric, arrival.size, arrival.marked || arrival.trimmed);
}

void SirdScheduler::OnDone(Time, CreditFlow flow) {
  rings_.Put(flow, kRings);
  outstanding_ -= senders_[flow].outstanding.WriteOff();
  senders_[flow] = {};
  senders_[flow].host.bucket = senders_[flow].fabric.bucket = bdp_;
}

Grant SirdScheduler::NextGrant(Time now) {
  const Time again = WriteOff(now);
  const CreditFlow flow = Choose();
  if (flow == kNoFlow) return {.again = again};
  Sender& sender = senders_[flow];
  const Bytes granted = std::min(mtu_, sender.asked);
  sender.asked -= granted;
  sender.outstanding.Grant(now, granted);
  outstanding_ += granted;
  if (sender.asked == Bytes(0)) rings_.Put(flow, kRings);
  return {.flow = flow, .bytes = granted, .again = now + Duration(1)};
}

Bytes SirdScheduler::bucket(CreditFlow flow) const {
  return std::min(senders_[flow].host.bucket, senders_[flow].fabric.bucket);
}

void SirdScheduler::Step(Loop& loop, Bytes size, bool marked) const {
  loop.arrived += size;
  if (marked) loop.marked += size;
  if (loop.arrived < loop.bucket) return;
  const double fraction = Ratio(loop.marked, loop.arrived);
  loop.alpha += g_ * (fraction - loop.alpha);
  loop.bucket = loop.marked > Bytes(0) ? std::max(Scaled(loop.bucket, 1 - loop.alpha / 2), mtu_)
                                       : std::min(loop.bucket + mtu_, bdp_);
  loop.arrived = loop.marked = Bytes(0);
}

bool SirdScheduler::MayGrant(CreditFlow flow) const {
  return senders_[flow].outstanding.bytes() + mtu_ <= bucket(flow) ||
         senders_[flow].outstanding.bytes() == Bytes(0);
}

CreditFlow SirdScheduler::Choose() {
  if (rings_.first(kWaiting) == kNoFlow || outstanding_ + mtu_ > budget_) return kNoFlow;
  CreditFlow best = kNoFlow;
  const CreditFlow first = rings_.first(kWaiting);
  CreditFlow flow = first;
  do {
    if (MayGrant(flow)) {
      if (order_ == Sird::Order::kFair) {
        while (rings_.first(kWaiting) != flow) rings_.TakeTurn(kWaiting);
        return rings_.TakeTurn(kWaiting);
      }
      if (best == kNoFlow || senders_[flow].asked < senders_[best].asked) best = flow;
    }
    flow = rings_.next(flow);
  } while (flow != first);
  return best;
}

// Of those who have asked: who waits for nothing has used what it was given, or will not.
Time SirdScheduler::WriteOff(Time now) {
  Time next = Time::Never();
  const CreditFlow first = rings_.first(kWaiting);
  if (first == kNoFlow) return next;
  CreditFlow flow = first;
  do {
    Outstanding& outstanding = senders_[flow].outstanding;
    if (outstanding.due(silence_) <= now) outstanding_ -= outstanding.WriteOff();
    next = std::min(next, outstanding.due(silence_));
    flow = rings_.next(flow);
  } while (flow != first);
  return next;
}

}  // namespace weir
