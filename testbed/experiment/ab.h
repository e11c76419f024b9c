// Comparing arms: the same seeds, differences paired by seed, and what they show together.
#pragma once

#include <string>
#include <vector>

#include "testbed/experiment/experiment.h"
#include "testbed/experiment/multiplicity.h"
#include "testbed/experiment/result.h"
#include "testbed/experiment/statistics.h"

namespace weir {

inline constexpr char kNoVerdict[] = "no verdict";

// One figure of one arm against the first arm.
struct AbDifference {
  std::string arm;
  std::string metric;
  std::string unit;  // "ns", "bps", "" (a ratio), "packets", "bytes"
  bool lower_is_better = true;
  bool decides = false;           // see metrics.h
  PairedDifference difference{};  // `shown`: after correction for the number of comparisons
  double p_adjusted = 1;          // by Holm, over all differences of the experiment
  double relative = 0;            // difference / mean of the first arm; 0 if that is 0

  bool small = false;  // shown, but no larger than the tolerance

  bool better() const { return counts() && (difference.difference < 0) == lower_is_better; }
  bool worse() const { return counts() && !better(); }
  bool counts() const { return difference.shown && !small; }
};

// What is said of an arm, against the first.
struct AbVerdict {
  std::string arm{};
  std::string word{};  // "better", "worse", "mixed", "within tolerance", "no difference
                       // shown", "no verdict"
  std::string text{};  // a sentence with the figures or the reason
};

struct AbResult {
  std::string baseline;  // the first arm
  std::vector<uint64_t> seeds{};
  std::vector<AbDifference> differences{};
  std::vector<AbVerdict> verdicts{};  // one an arm after the first
  double alpha = kAlpha;              // of the whole experiment, or of this look at it
  double tolerance = 0;               // relative; what is shown and no larger is `small`
  size_t comparisons = 0;             // that were corrected for
  size_t seeds_most = 0;              // when seeds are added until it is decided; else 0
  // Runs for which the machine was too busy. With any, no difference counts as shown.
  uint32_t too_busy = 0;
};

// The differences of two arms' runs, one of each a seed and in the same order. Nothing is shown
// yet.
std::vector<AbDifference> ComparePairs(const std::string& arm,
                                       const std::vector<const RunResult*>& baseline,
                                       const std::vector<const RunResult*>& other);
// All arms against the first of `arms`; `results` holds every arm on every seed. Nothing is judged
// yet, but an arm already has "no verdict" if there are fewer than kSeedsToJudge seeds, the machine
// was busy, or runs did not finish.
AbResult Differences(const std::vector<std::string>& arms, const std::vector<uint64_t>& seeds,
                     const std::vector<RunResult>& results);
// Corrects for the number of differences in `all` together, says which are shown (adjusted p at
// most `alpha`, and the interval excludes zero), and gives the verdicts that are missing. What is
// shown but no larger than `tolerance` of the first arm's mean makes no arm better or worse.
void Judge(const std::vector<AbResult*>& all, double alpha, double tolerance = 0);
// Both, for one experiment.
AbResult CompareArms(const Experiment& experiment, const std::vector<RunResult>& results,
                     double alpha = kAlpha, double tolerance = 0);

// Of the arm's verdict; empty: it has none yet.
std::string WordFor(const AbResult& ab, const std::string& arm);
// Whether every arm but the first is better, worse, mixed or within the tolerance: more seeds would
// not change that.
bool Decided(const AbResult& ab);

}  // namespace weir
