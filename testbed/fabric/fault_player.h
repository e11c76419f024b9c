// Plays a schedule of faults on a fabric and its hosts.
#pragma once

#include <vector>

#include "testbed/fabric/fabric.h"
#include "testbed/fabric/faults.h"

namespace weir {

// Where faults happen: a fabric in time, with hosts.
class FaultTarget {
 public:
  virtual Time now() const = 0;
  virtual Fabric& fabric() = 0;
  // FaultPlayer::OnTimer(timer) is due then; a later call moves it.
  virtual void SetTimer(uint32_t timer, Time at) = 0;
  // The host's poll loop stands still until then; nothing if there is no such host.
  virtual void Stall(uint32_t host, Time until) = 0;

 protected:
  ~FaultTarget() = default;
};

class FaultPlayer {
 public:
  // Uses two timers of the target, `timer` and `timer + 1`; the target outlives the player.
  FaultPlayer(FaultTarget& target, std::vector<Fault> faults, uint32_t timer)
      : target_(target), faults_(std::move(faults)), timer_(timer) {}

  // The schedule counts from `begin` and ends at `horizon` after it.
  void Start(Time begin, Duration horizon);
  // For each of its timers that is due.
  void OnTimer(uint32_t timer);

 private:
  void ArmNext();
  void Apply(const FaultStep& step);
  void ApplyToLink(const Fault& fault, bool begins, LinkId link);

  FaultTarget& target_;
  std::vector<Fault> faults_;
  uint32_t timer_;  // the next step; the one after it: routes follow
  Time begin_{};
  std::vector<FaultStep> steps_;
  size_t next_ = 0;
};

}  // namespace weir
