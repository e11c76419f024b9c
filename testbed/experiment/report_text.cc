#include "testbed/experiment/report_text.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"

namespace weir {

std::string AlignRows(const std::vector<TextRow>& rows, Alignment alignment) {
  std::vector<size_t> width;
  for (const TextRow& row : rows) {
    width.resize(std::max(width.size(), row.size()), 0);
    for (size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::string out;
  for (const TextRow& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string pad(width[i] - row[i].size(), ' ');
      if (i > 0) out += "  ";
      out += i == 0 || alignment == Alignment::kLeft ? row[i] + pad : pad + row[i];
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  return out;
}

std::string PrettyNanos(double ns) {
  const double size = std::abs(ns);
  if (size >= 1e9) return absl::StrFormat("%.3f s", ns / 1e9);
  if (size >= 1e6) return absl::StrFormat("%.3f ms", ns / 1e6);
  if (size >= 1e3) return absl::StrFormat("%.2f us", ns / 1e3);
  return absl::StrFormat("%.0f ns", ns);
}
std::string PrettyBytes(double bytes) {
  const double size = std::abs(bytes);
  if (size >= 1e6) return absl::StrFormat("%.2f MB", bytes / 1e6);
  if (size >= 1e3) return absl::StrFormat("%.1f kB", bytes / 1e3);
  return absl::StrFormat("%.0f B", bytes);
}
std::string PrettyRate(double bps) {
  if (std::abs(bps) >= 1e12) return absl::StrFormat("%.3f Tb/s", bps / 1e12);
  return absl::StrFormat("%.2f Gb/s", bps / 1e9);
}
std::string PrettyIn(const std::string& unit, double value) {
  if (unit == "ns") return PrettyNanos(value);
  if (unit == "bytes") return PrettyBytes(value);
  if (unit == "bps") return PrettyRate(value);
  if (unit == "packets") return absl::StrFormat("%.1f", value);
  return absl::StrFormat("%.4f", value);
}

}  // namespace weir
