// Differences between arms, for people.
#include "absl/strings/str_format.h"
#include "testbed/experiment/report.h"
#include "testbed/experiment/report_text.h"

namespace weir {
namespace {

const char* Word(const AbResult& ab, const AbDifference& d) {
  if (WordFor(ab, d.arm) == kNoVerdict) return "not judged";
  if (d.small) return "within tolerance";
  return d.better() ? "better" : d.worse() ? "worse" : "no difference shown";
}

}  // namespace

std::string VerdictText(const AbResult& ab) {
  std::string out;
  for (const AbVerdict& v : ab.verdicts) {
    out += absl::StrFormat("%s against %s: %s%s%s\n", v.arm, ab.baseline, v.word,
                           v.text.empty() ? "" : ": ", v.text);
  }
  return out;
}

std::string AbTable(const AbResult& ab) {
  std::vector<TextRow> rows;
  rows.push_back({"", ab.baseline, "other", "difference", "95 % interval", "p", "verdict"});
  std::string arm;
  for (const AbDifference& d : ab.differences) {
    if (d.arm != arm) {
      arm = d.arm;
      rows.push_back({arm});
    }
    const PairedDifference& p = d.difference;
    rows.push_back({"  " + d.metric, PrettyIn(d.unit, p.mean_a), PrettyIn(d.unit, p.mean_b),
                    absl::StrFormat("%+.2f %%", 100 * d.relative),
                    PrettyIn(d.unit, p.low) + " .. " + PrettyIn(d.unit, p.high),
                    d.p_adjusted < 0.001 ? "< 0.001" : absl::StrFormat("%.3f", d.p_adjusted),
                    Word(ab, d)});
  }
  return AlignRows(rows) +
         absl::StrFormat(
             "paired over %d seeds; differences are to %s; p is corrected for %d comparisons "
             "(Holm), shown if at most %.3g\n\n%s",
             ab.seeds.size(), ab.baseline, ab.comparisons, ab.alpha, VerdictText(ab));
}

}  // namespace weir
