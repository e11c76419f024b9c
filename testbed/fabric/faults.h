// What can go wrong in a fabric, and when.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "datapath/api/units.h"
#include "testbed/fabric/topology.h"

namespace weir {

// What one direction of a link does to packets. Probabilities are in [0, 1], per packet.
struct Impairment {
  double loss = 0;
  // Bursts (Gilbert, Elliott): probability to enter the state in which all is lost, and to leave.
  double burst_enter = 0;
  double burst_leave = 1;
  double corruption = 0;  // one bit flips
  double duplication = 0;
  double reordering = 0;  // the packet is held back by reorder_delay
  Duration reorder_delay = Micros(5);

  bool any() const {
    return loss > 0 || burst_enter > 0 || corruption > 0 || duplication > 0 || reordering > 0;
  }
};

enum class FaultKind : uint8_t {
  kLinkDown,      // both directions, from `at` for `lasts`
  kLinkFlap,      // down for half of each `period`, from `at` for `lasts`
  kLinkDegraded,  // both directions run at `share` of their rate
  kImpairment,    // both directions of the link, or of all links
  kHostStall,     // the host's poll loop stands still
};

// `target` is a link (kLinkX), a host (kHostStall) or kAllLinks.
inline constexpr uint32_t kAllLinks = 0xFFFF'FFFF;
struct Fault {
  FaultKind kind = FaultKind::kLinkDown;
  uint32_t target = kAllLinks;
  Duration at{};
  Duration lasts = Duration::Max();
  Duration period{};
  double share = 1.0;
  bool scale_queues = false;  // kLinkDegraded: limit and marks of its queues, in the same share
  Impairment impairment{};
};

// A moment at which something changes.
struct FaultStep {
  Duration at{};
  uint32_t fault = 0;  // index
  bool begins = true;
};

// All changes of a schedule until `horizon`, by time.
std::vector<FaultStep> FaultSteps(const std::vector<Fault>& faults, Duration horizon);

}  // namespace weir
