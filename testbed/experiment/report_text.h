// Figures and tables as people read them.
#pragma once

#include <string>
#include <vector>

namespace weir {

using TextRow = std::vector<std::string>;
// Of all columns but the first, which is always to the left.
enum class Alignment { kLeft, kRight };
// Columns as wide as their widest cell.
std::string AlignRows(const std::vector<TextRow>& rows, Alignment alignment = Alignment::kRight);

// Three or four digits and a fitting unit.
std::string PrettyNanos(double ns);
std::string PrettyBytes(double bytes);
std::string PrettyRate(double bps);
// `unit`: ns, bytes, bps, packets; any other is none.
std::string PrettyIn(const std::string& unit, double value);

}  // namespace weir
