// The report of `weir run`, `weir ab` and `weir merge`: one HTML file that works offline. What was
// asked, the verdict, charts, differences with their intervals, the configuration, warnings.
#pragma once

#include <string>
#include <vector>

#include "testbed/experiment/ab.h"
#include "testbed/experiment/experiment.h"
#include "testbed/experiment/result.h"
#include "testbed/report/html_page.h"
#include "testbed/sweep/merge.h"

namespace weir {

// `ab` may be null; without it there is no verdict.
std::string HtmlReport(const Experiment& experiment, const std::vector<RunResult>& results,
                       const AbResult* ab);
absl::StatusOr<std::string> HtmlSweepReport(const SweepFolders& folders,
                                            const std::vector<AbResult>& comparisons);

// Parts of both.
std::string VerdictCards(const AbResult& ab);
std::string DifferenceTable(const AbResult& ab);
// Distribution of completions, last completion by seed, and what was sampled.
std::vector<Chart> CompletionCharts(const std::vector<RunResult>& results);
// Collectives: a table, and a chart of bus bandwidth over size for each kind with several sizes.
std::string OperationsTable(const std::vector<RunResult>& results);
// Where their time goes; empty unless the experiment asked.
std::string BreakdownTable(const std::vector<RunResult>& results);
std::vector<Chart> BandwidthCharts(const std::vector<RunResult>& results);
// The arms of `results` in order.
std::vector<std::string> ArmsOf(const std::vector<RunResult>& results);
std::vector<Chart> SampleCharts(const std::vector<RunResult>& results);

}  // namespace weir
