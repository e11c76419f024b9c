// Weighted spraying: each packet takes a random path, in proportion to how good the path has been.
//
//   score <- score + `gain` (x - score),  x: shortest round trip / round trip  (by RTT)
//                                            0 for a marked packet, else 1    (by marks)
//                                            0 for a trimmed or lost one      (both)
//   weight = max(score, mean score / 4), so that no path gets less than about 1 / (4 paths)
//
// A draw takes a path with probability weight / largest weight; else it is drawn again.
//
// Source: ours, after weighted cost multi-path, Zhou et al., EuroSys 2014, with the end host's own
// measurements for the weights.
// Departure: scores move with each packet, not once a round trip; the largest is looked up once.
// Departure: paths that PathHealth has taken out are not drawn.
#pragma once

#include "datapath/api/load_balancer.h"
#include "lb_policies/path_run.h"

namespace weir {

class Weighted final : public LoadBalancer {
 public:
  static constexpr bool kUsesHealth = true;
  static constexpr uint32_t kMaxPool = 128;
  enum class By : uint8_t { kRtt, kMarks };

  struct Config {
    By by = By::kRtt;
    int64_t pool = kMaxPool;
    double gain = 1.0 / 8;
  };
  static constexpr ParamSpec kParams[] = {
      ChoiceParam<&Config::by>("by", "rtt|marks", "what makes a path good", "ours"),
      Param<&Config::pool>("pool", 1, kMaxPool, "paths in use, if there are so many",
                           "UEC 1.0 section 3.6: 64 to 256"),
      Param<&Config::gain>("gain", 0.001, 1, "weight of the latest packet in a score", "ours"),
  };

  Weighted(const LbInfo& lb, const Config& config);

  PathId PickPath(const TxContext& tx) override;
  void OnFeedback(const PathFeedback& feedback) override;

 private:
  static constexpr uint32_t kOne = 65'535;  // a score of 1

  void Score(uint32_t index, double x);
  void Compare(Time now);

  By by_;
  float gain_;
  Duration base_rtt_;
  const PathHealth* health_;
  Rng rng_;
  PathRun pool_;
  Duration shortest_;
  Time compare_at_{};
  uint32_t best_ = kOne;  // the largest score a round trip ago; > 0
  uint32_t sum_;          // of all scores
  uint16_t score_[kMaxPool];
};

}  // namespace weir
