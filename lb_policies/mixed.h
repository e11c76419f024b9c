// Mixed: a path whose packet came back unmarked, if there is one, else the choice of the bitmap.
//
//   good feedback:  store the path
//   other feedback: a penalty, as in Bitmap
//   to send:        the oldest stored path, which is then no longer stored; else Bitmap's choice
//
// Source: UecMpMixed of uet-htsim, `uec_mp.cpp` (REPS list without freezing, and bitmap).
// Departure: trims at the last hop say nothing about a path, so it counts as good.
// Departure: the list is bounded; what does not fit pushes the oldest out.
#pragma once

#include <array>
#include <iterator>

#include "datapath/api/load_balancer.h"
#include "lb_policies/bitmap.h"
#include "lb_policies/path_ring.h"

namespace weir {

class Mixed final : public LoadBalancer {
 public:
  static constexpr uint32_t kMaxBuffer = 32;

  struct Config {
    Bitmap::Config bitmap{};
    int64_t buffer = kMaxBuffer;
  };
  static constexpr auto kParams = [] {
    std::array<ParamSpec, std::size(Bitmap::kParams) + 1> all{};
    size_t n = 0;
    for (const ParamSpec& row :
         MovedParams<&Config::bitmap, std::size(Bitmap::kParams), Bitmap::kParams>()) {
      all[n++] = row;
    }
    all[n] = Param<&Config::buffer>("buffer", 1, kMaxBuffer, "good paths remembered",
                                    "ours; uet-htsim: all");
    return all;
  }();
  static constexpr CounterSpec kCounters[] = {
      {"recycled", "packets sent on a path that had just been good"},
      {"in_turn", "packets sent on the bitmap's choice"},
  };

  Mixed(const LbInfo& lb, const Config& config);

  PathId PickPath(const TxContext& tx) override;
  void OnFeedback(const PathFeedback& feedback) override;
  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  Bitmap bitmap_;
  PathRing<kMaxBuffer> good_;
  uint64_t counters_[2] = {};
};

}  // namespace weir
