// Figures and tables as people read them.
#pragma once

#include <string>
#include <vector>

namespace weir {

using TextRow = std::vector<std::string>;
// Columns as wide as their widest cell; the first to the left, the others to the right.
std::string AlignRows(const std::vector<TextRow>& rows);

// Three or four digits and a fitting unit.
std::string PrettyNanos(double ns);
std::string PrettyBytes(double bytes);
std::string PrettyRate(double bps);
// `unit`: ns, bytes, bps, packets; any other is none.
std::string PrettyIn(const std::string& unit, double value);

}  // namespace weir
