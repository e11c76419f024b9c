// Where runs and their transfers go as tables: CSV files, or a SQLite database.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "testbed/experiment/result.h"

namespace weir {

class TableSink {
 public:
  virtual ~TableSink() = default;
  // `factors` holds a value for each of the sweep's keys, in their order.
  virtual absl::Status Add(const std::vector<std::string>& factors, const RunResult& result) = 0;
  // Nothing is certain to be written before.
  virtual absl::Status Finish() = 0;
};

// FOLDER/runs.csv and FOLDER/transfers.csv, as RFC 4180 has it; the folder is made. The runs' table
// has a column for each of `factor_keys`.
absl::StatusOr<std::unique_ptr<TableSink>> MakeCsvSink(const std::string& folder,
                                                       const std::vector<std::string>& factor_keys);
// One file with the tables runs, factors (run, key, value) and transfers. An older one is replaced.
absl::StatusOr<std::unique_ptr<TableSink>> MakeSqliteSink(
    const std::string& file, const std::vector<std::string>& factor_keys);

}  // namespace weir
