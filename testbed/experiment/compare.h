// Two stored results of one experiment: whether they can be compared, and what has changed.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "testbed/experiment/ab.h"
#include "testbed/experiment/read_result.h"

namespace weir {

// A fact that is not the same in both.
struct FactChange {
  std::string fact{};  // "system", "experiment.given.fabric.rate"
  std::string base{};
  std::string fresh{};
  // Whether a difference in results could come from this and not from what is judged. The program's
  // own version and revision are what one compares.
  bool unsound = false;
};

struct Comparison {
  std::vector<FactChange> changes{};
  size_t identical = 0;  // runs whose digests are equal
  // One an arm (and point of a sweep) that both have; its baseline is the base result.
  std::vector<AbResult> arms{};
  std::vector<std::string> left_out{};    // arms that only one has
  std::vector<std::string> unfinished{};  // arms of which more runs fail to finish than before
};

// Pairs runs by arm, point and seed. Refuses results that have no run in common.
absl::StatusOr<Comparison> CompareResults(const StoredResult& base, const StoredResult& fresh);

// For people. `brief`: without the tables.
std::string ComparisonText(const Comparison& comparison, bool brief);
// Whether anything can be said: some arm has a verdict, or all runs are the same to the bit.
bool CanJudge(const Comparison& comparison);
// What does not finish any more, and what is shown to be worse by more than `tolerance` (a share of
// the base), in words.
std::vector<std::string> Regressions(const Comparison& comparison, double tolerance);

}  // namespace weir
