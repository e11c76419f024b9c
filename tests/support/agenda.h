// Things to do in a world at given times, and a schedule of faults beside them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "testbed/fabric/fault_player.h"
#include "testbed/virtual/world.h"

namespace weir {

// Uses the world's first timers. Equal times run in the order they were added.
class Agenda {
 public:
  explicit Agenda(World& world) : world_(world) {
    world_.OnTimer([this](uint32_t timer) { timer == kActions ? Run() : faults_->OnTimer(timer); });
  }

  void At(Time at, std::function<void()> action) {
    actions_.emplace(at, std::move(action));
    world_.SetTimer(kActions, actions_.begin()->first);
  }

  // The schedule begins at time zero. Once.
  void Add(const std::vector<Fault>& faults, Duration horizon) {
    faults_.emplace(world_, faults, kFaults);
    faults_->Start(Time(0), horizon);
  }

 private:
  static constexpr uint32_t kActions = 0;
  static constexpr uint32_t kFaults = 1;  // and the next

  void Run() {
    while (!actions_.empty() && actions_.begin()->first <= world_.now()) {
      const std::function<void()> action = std::move(actions_.begin()->second);
      actions_.erase(actions_.begin());
      action();
    }
    if (!actions_.empty()) world_.SetTimer(kActions, actions_.begin()->first);
  }

  World& world_;
  std::multimap<Time, std::function<void()>> actions_;
  std::optional<FaultPlayer> faults_;
};

}  // namespace weir
