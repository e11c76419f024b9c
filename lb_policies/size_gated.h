// Two policies by the size of a message: short ones need no spraying, long ones do.
//
//   message < `below`:  the choice of Short;  else: of Long
//
// Both hear of every packet's fate.
//
// Source: ours; the size at which a message meets its own queue, one BDP.
// Reorders: messages of one kind as their policy does, and short ones against long ones.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>

#include "datapath/api/load_balancer.h"

namespace weir {

template <class Short, class Long>
class SizeGated final : public LoadBalancer {
 public:
  struct Config {
    Bytes below{};
    typename Short::Config of_short{};
    typename Long::Config of_long{};
  };
  static constexpr auto kParams = [] {
    constexpr size_t kShort = std::size(Short::kParams);
    constexpr size_t kLong = std::size(Long::kParams);
    std::array<ParamSpec, 1 + kShort + kLong> all{};
    size_t n = 0;
    all[n++] = Param<&Config::below>("below", 0, 1e12, "bytes from which a message is long; 0: BDP",
                                     "ours");
    for (const ParamSpec& row : MovedParams<&Config::of_short, kShort, Short::kParams>()) {
      all[n++] = row;
    }
    for (const ParamSpec& row : MovedParams<&Config::of_long, kLong, Long::kParams>()) {
      all[n++] = row;
    }
    return all;
  }();
  static constexpr CounterSpec kCounters[] = {{"short_packets", "packets of short messages"},
                                              {"long_packets", "packets of long messages"}};

  SizeGated(const LbInfo& lb, const Config& config)
      : below_(config.below > Bytes(0) ? config.below : lb.bdp),
        short_(lb, config.of_short),
        long_(lb, config.of_long) {}

  PathId PickPath(const TxContext& tx) override {
    const bool is_long = tx.message_size >= below_;
    ++counters_[is_long];
    return is_long ? long_.PickPath(tx) : short_.PickPath(tx);
  }
  void OnFeedback(const PathFeedback& feedback) override {
    short_.OnFeedback(feedback);
    long_.OnFeedback(feedback);
  }
  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  Bytes below_;
  Short short_;
  Long long_;
  uint64_t counters_[2] = {};
};

}  // namespace weir
