// Things to do in a world at given times, and the faults of a schedule among them.
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "testbed/fabric/faults.h"
#include "testbed/virtual/world.h"

namespace weir {

// Uses the world's timer 0. Equal times run in the order they were added.
class Agenda {
 public:
  explicit Agenda(World& world) : world_(world) {
    world_.OnTimer([this](uint32_t) { Run(); });
  }

  void At(Time at, std::function<void()> action) {
    actions_.emplace(at, std::move(action));
    world_.SetTimer(0, actions_.begin()->first);
  }

  // The schedule begins at time zero.
  void Add(const std::vector<Fault>& faults, Duration horizon) {
    for (const FaultStep& step : FaultSteps(faults, horizon)) {
      At(Time(0) + step.at,
         [this, fault = faults[step.fault], begins = step.begins] { Apply(fault, begins); });
    }
  }

 private:
  void Run() {
    while (!actions_.empty() && actions_.begin()->first <= world_.now()) {
      const std::function<void()> action = std::move(actions_.begin()->second);
      actions_.erase(actions_.begin());
      action();
    }
    if (!actions_.empty()) world_.SetTimer(0, actions_.begin()->first);
  }

  void Apply(const Fault& fault, bool begins) {
    if (fault.kind == FaultKind::kHostStall) {
      const bool forever = fault.lasts == Duration::Max();
      if (begins) world_.Stall(fault.target, forever ? Time::Never() : world_.now() + fault.lasts);
      return;
    }
    const auto links = static_cast<LinkId>(world_.fabric().topology().links.size());
    for (LinkId id = 0; id < links; ++id) {
      const LinkId cable = std::min(id, world_.fabric().topology().links[id].reverse);
      const bool meant = fault.target == kAllLinks || fault.target == cable;
      if (meant) Apply(fault, begins, id);
    }
    const Duration reroute_after = world_.config().switches.reroute_after;
    const bool moves = fault.kind == FaultKind::kLinkDown || fault.kind == FaultKind::kLinkFlap;
    if (moves && reroute_after < Duration::Max()) {
      At(world_.now() + reroute_after, [this] { world_.fabric().Reroute(); });
    }
  }

  void Apply(const Fault& fault, bool begins, LinkId link) {
    Fabric& fabric = world_.fabric();
    switch (fault.kind) {
      case FaultKind::kLinkDown:
      case FaultKind::kLinkFlap:
        return fabric.SetLink(world_.now(), link, !begins);
      case FaultKind::kLinkDegraded:
        return fabric.SetRate(world_.now(), link, begins ? fault.share : 1.0);
      case FaultKind::kImpairment:
        return fabric.SetImpairment(link, begins ? fault.impairment : Impairment{});
      case FaultKind::kHostStall:
        return;
    }
  }

  World& world_;
  std::multimap<Time, std::function<void()>> actions_;
};

}  // namespace weir
