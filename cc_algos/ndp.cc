#include "cc_algos/ndp.h"

#include <algorithm>

namespace weir {

Ndp::Ndp(const FlowInfo& flow, const Config& config)
    : mtu_(flow.mtu),
      base_rtt_(flow.base_rtt),
      window_(std::max(Scaled(flow.bdp(), config.initial_window), mtu_)),
      pulls_(window_) {}

CreditScheduler* Ndp::NewScheduler(const CreditInfo& info, const ConfigBlob& config) {
  return new NdpScheduler(info, config.As<Config>());
}

void Ndp::OnSend(const SendSample& send) {
  pulls_ -= send.size;
  in_flight_ = send.in_flight;
}

void Ndp::OnLoss(const LossSample& loss) {
  in_flight_ = loss.in_flight;
  const bool pulled = loss.cause == LossCause::kTrim || loss.cause == LossCause::kTrimLastHop;
  if (!pulled) pulls_ = std::min(pulls_ + loss.lost, window_);
}

void Ndp::OnTimeout(const TimeoutSample& timeout) {
  in_flight_ = Bytes(0);
  pulls_ = std::min(pulls_ + timeout.lost, window_);
}

void Ndp::OnCredit(Time, Bytes granted) { pulls_ = std::min(pulls_ + granted, window_); }

void Ndp::OnResume(Time, Duration idle) {
  if (idle >= base_rtt_) pulls_ = window_;
}

Bytes Ndp::CreditWanted(Bytes backlog) const {
  const bool stuck = backlog > Bytes(0) && in_flight_ == Bytes(0) && pulls_ < mtu_;
  return stuck ? mtu_ : Bytes(0);
}

void Ndp::Restore(const Snapshot& snapshot) {
  in_flight_ = snapshot.in_flight;
  pulls_ = std::max(pulls_ - snapshot.in_flight, Bytes(0));
}

NdpScheduler::NdpScheduler(const CreditInfo& info, const Ndp::Config& config)
    : mtu_(info.mtu),
      pacer_(std::max(Scaled(info.line_rate, config.pull_share), Rate(1)), mtu_),
      pulls_(info.connections),
      rings_(info.connections) {}

void NdpScheduler::OnDemand(Time, CreditFlow flow, Bytes ask) {
  if (ask > Bytes(0) && pulls_[flow] == Bytes(0)) Queue(flow, mtu_);
}

void NdpScheduler::OnData(const DataArrival& arrival) { Queue(arrival.flow, arrival.size); }

void NdpScheduler::OnDone(Time, CreditFlow flow) {
  pulls_[flow] = Bytes(0);
  rings_.Put(flow, kRings);
}

Grant NdpScheduler::NextGrant(Time now) {
  if (rings_.first(kPulling) == kNoFlow) return {};
  if (now < pacer_.free_at()) return {.again = pacer_.free_at()};
  const CreditFlow flow = rings_.TakeTurn(kPulling);
  const Bytes pull = std::min(pulls_[flow], mtu_);
  pulls_[flow] -= pull;
  if (pulls_[flow] == Bytes(0)) rings_.Put(flow, kRings);
  pacer_.Book(now, pull);
  const bool more = rings_.first(kPulling) != kNoFlow;
  return {.flow = flow,
          .bytes = pull,
          .again = more ? std::max(pacer_.free_at(), now + Duration(1)) : Time::Never()};
}

void NdpScheduler::Queue(CreditFlow flow, Bytes pulls) {
  pulls_[flow] += pulls;
  rings_.Put(flow, kPulling);
}

}  // namespace weir
