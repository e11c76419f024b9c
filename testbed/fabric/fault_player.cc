#include "testbed/fabric/fault_player.h"

namespace weir {

void FaultPlayer::Start(Time begin, Duration horizon) {
  begin_ = begin;
  steps_ = FaultSteps(faults_, horizon);
  ArmNext();
}

void FaultPlayer::OnTimer(uint32_t timer) {
  if (timer == timer_ + 1) return target_.fabric().Reroute();
  while (next_ < steps_.size() && begin_ + steps_[next_].at <= target_.now()) {
    Apply(steps_[next_++]);
  }
  ArmNext();
}

void FaultPlayer::ArmNext() {
  if (next_ < steps_.size()) target_.SetTimer(timer_, begin_ + steps_[next_].at);
}

void FaultPlayer::Apply(const FaultStep& step) {
  const Fault& fault = faults_[step.fault];
  if (fault.kind == FaultKind::kHostStall) {
    if (step.begins) {
      const bool forever = fault.lasts == Duration::Max();
      target_.Stall(fault.target, forever ? Time::Never() : target_.now() + fault.lasts);
    }
    return;
  }
  const auto links = static_cast<uint32_t>(target_.fabric().topology().links.size());
  const bool all = fault.target == kAllLinks;
  for (LinkId link = 0; link < links; ++link) {
    const LinkId reverse = target_.fabric().topology().links[link].reverse;
    if (all || link == fault.target || reverse == fault.target) {
      ApplyToLink(fault, step.begins, link);
    }
  }
  const bool moves = fault.kind == FaultKind::kLinkDown || fault.kind == FaultKind::kLinkFlap;
  const Duration after = target_.fabric().config().reroute_after;
  if (moves && after != Duration::Max()) {
    target_.SetTimer(timer_ + 1, target_.now() + after);
  }
}

void FaultPlayer::ApplyToLink(const Fault& fault, bool begins, LinkId link) {
  Fabric& fabric = target_.fabric();
  switch (fault.kind) {
    case FaultKind::kLinkDown:
    case FaultKind::kLinkFlap:
      return fabric.SetLink(target_.now(), link, !begins);
    case FaultKind::kLinkDegraded:
      return fabric.SetRate(target_.now(), link, begins ? fault.share : 1.0, fault.scale_queues);
    case FaultKind::kImpairment:
      return fabric.SetImpairment(link, begins ? fault.impairment : Impairment{});
    case FaultKind::kHostStall:
      return;
  }
}

}  // namespace weir
