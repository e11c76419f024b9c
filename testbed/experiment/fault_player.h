// Plays a schedule of faults on a world.
#pragma once

#include <functional>
#include <vector>

#include "testbed/fabric/faults.h"
#include "testbed/virtual/world.h"

namespace weir {

class FaultPlayer {
 public:
  // Uses two timers of the world, `timer` and `timer + 1`; all arguments outlive the player.
  FaultPlayer(World& world, const std::vector<Fault>& faults, uint32_t timer)
      : world_(world), faults_(faults), timer_(timer) {}

  // The schedule counts from `begin` and ends at `horizon` after it.
  void Start(Time begin, Duration horizon);
  // For each of its timers that is due.
  void OnTimer(uint32_t timer);

 private:
  void ArmNext();
  void Apply(const FaultStep& step);
  void ApplyToLink(const Fault& fault, bool begins, LinkId link);

  World& world_;
  const std::vector<Fault>& faults_;
  uint32_t timer_;  // the next step; the one after it: routes follow
  Time begin_{};
  std::vector<FaultStep> steps_;
  size_t next_ = 0;
};

}  // namespace weir
