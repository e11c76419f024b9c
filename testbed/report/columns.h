// Runs and transfers as rows of tables, for CSV and SQLite.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "testbed/experiment/result.h"

namespace weir {

// Nothing is what was not reached, or does not exist in this home.
using Cell = std::variant<std::monostate, int64_t, double, std::string>;
using Row = std::vector<Cell>;
enum class ColumnType : uint8_t { kInteger, kReal, kText };
using Columns = std::vector<std::pair<std::string, ColumnType>>;

// Names as in the JSON document. Every run has a number, by which its transfers refer to it.
Columns RunColumns();
Row RunRow(int64_t number, const RunResult& result);
Columns TransferColumns();
Row TransferRow(int64_t run, const TransferResult& transfer);

}  // namespace weir
