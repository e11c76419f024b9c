// Where the time of a collective or of a step goes: along the chain of events that its end waited
// for, back to the first rank's arrival or the step's beginning. The parts add up to that time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "testbed/experiment/result.h"
#include "testbed/experiment/transfer_watch.h"
#include "testbed/traffic/traffic.h"

namespace weir {

// What made a trigger fire for the first time.
struct FiredBy {
  enum class Kind : uint8_t { kNone, kSent, kReceived, kDelay } kind = Kind::kNone;
  uint32_t index = 0;  // of the transfer or delay
};

struct PathFacts {
  // One packet through the idle fabric.
  std::function<Duration(uint32_t from, uint32_t to, Bytes wire)> passage;
  std::function<Rate(uint32_t host)> rate;          // of its link
  std::function<bool(uint32_t connection)> credit;  // its receiver grants
};

class CriticalPaths {
 public:
  // `fired_at` and `causes` by trigger; times after `begin`. All outlive this.
  CriticalPaths(const Traffic& traffic, const std::vector<Duration>& fired_at,
                const std::vector<FiredBy>& causes, const std::vector<TransferResult>& transfers,
                const TransferWatch& watch, Time begin, PathFacts facts);

  // Of everything in `result` that finished, which has the same operations and jobs as the traffic.
  void Break(RunResult& result);

 private:
  class Parts;
  Breakdown Walk(uint32_t end, Duration from);
  void TakeTransfer(uint32_t index, bool acknowledged, Duration end, Parts& parts) const;
  Duration At(uint32_t trigger) const {
    return trigger == kNoTrigger ? Duration(0) : fired_at_[trigger];
  }

  const Traffic& traffic_;
  const std::vector<Duration>& fired_at_;
  const std::vector<FiredBy>& causes_;
  const std::vector<TransferResult>& transfers_;
  const TransferWatch& watch_;
  Time begin_;
  PathFacts facts_;
  // By trigger: the walk that ends there, as the arrival of a member is its first event.
  std::vector<uint32_t> stops_;
  uint32_t walk_ = 0;
};

}  // namespace weir
