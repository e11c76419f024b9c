// Many arms on the same seeds, ranked.
#pragma once

#include <string>
#include <vector>

#include "testbed/experiment/experiment.h"
#include "testbed/experiment/result.h"
#include "testbed/experiment/statistics.h"

namespace weir {

// One arm's season: means over its seeds.
struct LeagueRow {
  std::string arm;
  int rank = 0;         // equal for arms between which no difference is shown; 0: not ranked
  size_t finished = 0;  // runs in which every transfer ended in time
  size_t runs = 0;
  Interval last{};             // completion of the last transfer, ns
  double slowdown = 0;         // of `last`, against the ideal
  PairedDifference against{};  // `last` - that of the baseline
  double p99 = 0;              // ns
  double fairness = 0;
  double retransmissions = 0;
  std::optional<double> queue_peak{};  // bytes; nothing where no model of a fabric took part
};

struct League {
  std::string baseline;
  size_t seeds = 0;
  int too_busy = 0;               // runs in real time that mean little; with any, nobody is ranked
  std::vector<LeagueRow> rows{};  // the best first; unfinished ones last
};

// The baseline is the first arm whose algorithm is `none`, or the first arm. An arm ranks behind
// the best of the rank before if the paired 95 % interval of their difference excludes zero.
League MakeLeague(const Experiment& experiment, const std::vector<RunResult>& results);

std::string LeagueTable(const League& league);

}  // namespace weir
