#include "cc_algos/rccc.h"

namespace weir {

Rccc::Rccc(const FlowInfo& flow, const Config& config)
    : mtu_(flow.mtu),
      max_window_(std::max(Scaled(flow.bdp(), config.max_window), mtu_)),
      balance_(std::clamp(Scaled(flow.bdp(), config.speculative_window), mtu_, max_window_)) {}

CreditScheduler* Rccc::NewScheduler(const CreditInfo& info, const ConfigBlob& config) {
  return new RcccScheduler(info, config.As<Config>());
}

void Rccc::OnCredit(Time, Bytes granted) {
  StopSpeculating();
  balance_ += granted;
  if (balance_ <= max_window_) return;
  counters_[1] += static_cast<uint64_t>((balance_ - max_window_).count());
  balance_ = max_window_;
}

Bytes Rccc::CreditWanted(Bytes backlog) const {
  if (backlog <= Bytes(0)) return Bytes(0);
  const Bytes least = speculating_ ? mtu_ : Bytes(0);
  return std::max(std::min(backlog, max_window_) - balance_, least);
}

void Rccc::Restore(const Snapshot& snapshot) {
  balance_ = std::max(balance_ - snapshot.in_flight, Bytes(0));
}

void Rccc::StopSpeculating() {
  if (!speculating_) return;
  speculating_ = false;
  if (balance_ <= Bytes(0)) return;
  counters_[0] += static_cast<uint64_t>(balance_.count());
  balance_ = Bytes(0);
}

RcccScheduler::RcccScheduler(const CreditInfo& info, const Rccc::Config& config)
    : mtu_(info.mtu),
      max_window_(std::max(Scaled(info.line_rate * info.base_rtt, config.max_window), mtu_)),
      idle_ahead_(Scaled(info.line_rate * info.base_rtt, config.idle_ahead)),
      quantum_(config.quantum),
      pace_(std::max(Scaled(info.line_rate, config.pacer_share), Rate(1))),
      lateness_allowed_(quantum_ / pace_),
      senders_(info.connections) {}

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
  Remove(flow);
  senders_[flow] = {};
}

Grant RcccScheduler::NextGrant(Time now) {
  const Place place = waiting_ != kNoFlow ? Place::kWaiting : Place::kIdle;
  const CreditFlow flow = Ring(place);
  if (flow == kNoFlow) return {};
  if (now < free_at_) return {.again = free_at_};
  Ring(place) = senders_[flow].next;
  const Bytes granted = Serve(senders_[flow]);
  Settle(flow);
  Book(now, granted);
  const bool more = waiting_ != kNoFlow || idle_ != kNoFlow;
  return {.flow = flow,
          .bytes = granted,
          .again = more ? std::max(free_at_, now + Duration(1)) : Time::Never()};
}

// A sender is out until its first packet, and again once it has all that is granted ahead.
void RcccScheduler::Settle(CreditFlow flow) {
  const Sender& sender = senders_[flow];
  Place place = Place::kOut;
  if (Demand(sender) > Bytes(0)) {
    place = Place::kWaiting;
  } else if (sender.ahead < idle_ahead_) {
    place = Place::kIdle;
  }
  if (place == sender.place) return;
  Remove(flow);
  if (place != Place::kOut) Insert(flow, place);
}

// At the end of the ring: just before the sender to serve next.
void RcccScheduler::Insert(CreditFlow flow, Place place) {
  Sender& sender = senders_[flow];
  CreditFlow& first = Ring(place);
  sender.place = place;
  if (first == kNoFlow) {
    first = sender.next = sender.previous = flow;
    return;
  }
  sender.next = first;
  sender.previous = senders_[first].previous;
  senders_[sender.previous].next = flow;
  senders_[first].previous = flow;
}

void RcccScheduler::Remove(CreditFlow flow) {
  Sender& sender = senders_[flow];
  if (sender.place == Place::kOut) return;
  CreditFlow& first = Ring(sender.place);
  sender.place = Place::kOut;
  if (sender.next == flow) {
    first = kNoFlow;
    return;
  }
  senders_[sender.previous].next = sender.next;
  senders_[sender.next].previous = sender.previous;
  if (first == flow) first = sender.next;
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

void RcccScheduler::Book(Time now, Bytes granted) {
  if (booked_ == Bytes(0) || now > free_at_ + lateness_allowed_) {
    busy_since_ = now;
    booked_ = Bytes(0);
  }
  booked_ += granted;
  free_at_ = busy_since_ + booked_ / pace_;
}

}  // namespace weir
