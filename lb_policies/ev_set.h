// MRC's set of entropy values: active ones in turn, backups for those that fail.
//
//   GOOD          used, once a pass
//   SKIP          marked, trimmed or lost a packet: passed over once, then GOOD
//   ASSUMED_BAD   timed out or lost two in a row: a backup is used instead, if one is good; probed
//                 with small packets, and GOOD after two answers (PathHealth does both)
//   DENIED        taken out by the configuration: never used
//
// Each pass leaves out at most 1 - `min_active` of the active values. What is sent again takes
// another value than the one that lost it.
//
// Source: MRC, OCP 2026: its states and transitions, `ev_min_active`, 128 to 256 active values.
// Departure: what is assumed bad is known to all connections to a destination, not to one.
// Departure: a mark always skips once; the code "always skip" does not exist on our wire.
// Departure: one plane; see `plane` for several.
#pragma once

#include "datapath/api/load_balancer.h"
#include "lb_policies/oblivious.h"

namespace weir {

class EvSet final : public LoadBalancer {
 public:
  static constexpr bool kUsesHealth = true;
  static constexpr uint32_t kMaxActive = 256;
  static constexpr uint32_t kMaxBackups = 256;

  struct Config {
    int64_t active = 128;
    int64_t backups = 32;
    double min_active = 0.5;
    int64_t denied_first = 0;
    int64_t denied = 0;
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::active>("active", 1, kMaxActive, "values in use, if there are so many paths",
                             "MRC: 128 to 256"),
      Param<&Config::backups>("backups", 0, kMaxBackups, "values that replace bad ones", "ours"),
      Param<&Config::min_active>("min_active", 0.01, 1,
                                 "part of the active values that every pass uses", "ours"),
      Param<&Config::denied_first>("denied_first", 0, 65535, "first of the paths not to be used",
                                   "ours"),
      Param<&Config::denied>("denied", 0, 65535, "how many paths are not to be used", "ours: none"),
  };
  static constexpr CounterSpec kCounters[] = {
      {"skipped", "values passed over once, for a mark, trim or loss"},
      {"bad", "values left out because assumed bad"},
      {"replaced", "packets sent on a backup"},
  };

  EvSet(const LbInfo& lb, const Config& config);

  PathId PickPath(const TxContext& tx) override;
  void OnFeedback(const PathFeedback& feedback) override;
  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  enum Counter { kSkipped, kBad, kReplaced };

  PathId PathOf(uint32_t value) const;
  uint32_t OrItsBackup(uint32_t value);
  bool LeavesOut(uint32_t value, const TxContext& tx);

  const PathHealth* health_;
  uint32_t paths_;
  uint32_t first_;    // the path after those denied
  uint32_t allowed_;  // paths from there on
  Oblivious order_;   // of the active values, in the space of what is allowed
  uint32_t backups_;
  uint32_t may_leave_out_;                               // in a pass; fewer than the active values
  uint32_t left_out_ = 0;                                // in this pass
  uint32_t turn_ = 0;                                    // values of this pass that had their turn
  uint64_t skip_[(kMaxActive + kMaxBackups) / 64] = {};  // a bit each
  uint64_t counters_[3] = {};
};

}  // namespace weir
