// What users of collectives and jobs measure, from the times at which triggers fired.
#pragma once

#include <vector>

#include "testbed/experiment/result.h"
#include "testbed/traffic/traffic.h"

namespace weir {

// `fired_at`: by trigger, after the beginning of traffic; Max: not fired.
void MeasureOperations(const Traffic& traffic, const std::vector<Duration>& fired_at,
                       RunResult& result);

// Several calls of one kind and size, as nccl-tests reports them.
struct OperationSummary {
  std::string name;
  Bytes size{};
  uint32_t ranks = 0;
  uint32_t calls = 0;
  uint32_t unfinished = 0;
  Duration mean{};                 // since the first arrival
  Duration since_last{};           // mean since the last arrival
  Duration ideal{};                // mean
  double algorithm_bandwidth = 0;  // bytes a second, of the mean time
  double bus_bandwidth = 0;
  Breakdown breakdown{};  // mean, of those that have one
};
// In the order of their first calls.
std::vector<OperationSummary> SummarizeOperations(const std::vector<OperationResult>& operations);

// Adds parts to parts; `sum` may be empty.
void Add(const Breakdown& parts, Breakdown& sum);

// The lines that nccl-tests prints: one a size, then the mean bus bandwidth. `operations` are of
// one run; those named "warmup" are left out.
std::string NcclTestsText(const std::vector<OperationResult>& operations);

}  // namespace weir
