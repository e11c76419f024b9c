// Verdicts and differences as HTML.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "testbed/experiment/report_text.h"
#include "testbed/report/html_report.h"

namespace weir {
namespace {

// Of the style sheet.
std::string ClassOf(const std::string& word) {
  if (word == "better" || word == "worse" || word == "mixed") return word;
  return "plain";
}

// Numbers stay with their percent sign.
std::string Unbroken(std::string html) {
  for (size_t at = 0; (at = html.find(" %", at)) != std::string::npos;) {
    html.replace(at, 1, "&nbsp;");
  }
  return html;
}

const char* WordOf(const AbResult& ab, const AbDifference& d) {
  if (WordFor(ab, d.arm) == kNoVerdict) return "not judged";
  if (d.small) return "within tolerance";
  return d.better() ? "better" : d.worse() ? "worse" : "no difference shown";
}

// An interval of a share of the baseline, drawn between -scale and +scale.
class IntervalPicture {
 public:
  explicit IntervalPicture(double scale) : scale_(scale) {}

  std::string Of(const AbDifference& d) const {
    const double base = std::abs(d.difference.mean_a);
    if (base == 0) return "";
    const char* colour = d.better() ? "var(--good)" : d.worse() ? "var(--bad)" : "var(--plain)";
    const double low = X(d.difference.low / base);
    const double high = X(d.difference.high / base);
    return absl::StrFormat(
        "<svg width=\"%g\" height=\"18\" role=\"img\" aria-label=\"95 %% interval %+.2f %% to "
        "%+.2f %%\"><line x1=\"%g\" x2=\"%g\" y1=\"1\" y2=\"17\" stroke=\"var(--dim)\" "
        "stroke-dasharray=\"2 2\"/><rect x=\"%.1f\" y=\"6\" width=\"%.1f\" height=\"6\" rx=\"3\" "
        "fill=\"%s\" opacity=\"0.45\"/><circle cx=\"%.1f\" cy=\"9\" r=\"4\" fill=\"%s\"/></svg>",
        kWidth, 100 * d.difference.low / base, 100 * d.difference.high / base, kWidth / 2,
        kWidth / 2, low, std::max(2.0, high - low), colour, X(d.difference.difference / base),
        colour);
  }

 private:
  static constexpr double kWidth = 170;
  // What is further out stands at the edge, as far as twice the baseline goes.
  double X(double share) const {
    return kWidth / 2 + std::clamp(share / scale_, -1.0, 1.0) * (kWidth / 2 - 5);
  }
  double scale_;
};

double ScaleOf(const AbResult& ab) {
  double scale = 0.001;
  for (const AbDifference& d : ab.differences) {
    const double base = std::abs(d.difference.mean_a);
    if (!d.decides || base == 0) continue;
    scale =
        std::max({scale, std::abs(d.difference.low) / base, std::abs(d.difference.high) / base});
  }
  return std::min(scale, 1.0);
}

}  // namespace

std::string VerdictCards(const AbResult& ab) {
  std::string out = "<div class=\"verdicts\">\n";
  for (const AbVerdict& v : ab.verdicts) {
    out += absl::StrFormat(
        "<div class=\"verdict %s\"><span class=\"arm\">%s</span> <span class=\"dim\">against "
        "%s</span><b>%s</b><p>%s</p></div>\n",
        ClassOf(v.word), Escaped(v.arm), Escaped(ab.baseline), Escaped(v.word),
        Unbroken(Escaped(v.text)));
  }
  return out + "</div>\n";
}

std::string DifferenceTable(const AbResult& ab) {
  const double scale = ScaleOf(ab);
  const IntervalPicture picture(scale);
  std::vector<HtmlRow> rows;
  rows.push_back({TextCell("figure"), NumberCell(ab.baseline), NumberCell("arm"),
                  NumberCell("difference"),
                  TextCell(absl::StrFormat("95 %% interval, ±%.3g %%", 100 * scale)),
                  NumberCell("interval"), NumberCell("p"), TextCell("verdict")});
  std::string arm;
  for (const AbDifference& d : ab.differences) {
    if (d.arm != arm) {
      arm = d.arm;
      HtmlRow name(rows[0].size());
      name[0] = HeadCell(arm);
      rows.push_back(name);
    }
    const PairedDifference& p = d.difference;
    const std::string word = WordOf(ab, d);
    const std::string p_text =
        d.p_adjusted < 0.001 ? "< 0.001" : absl::StrFormat("%.3f", d.p_adjusted);
    rows.push_back(
        {TextCell(d.metric), NumberCell(PrettyIn(d.unit, p.mean_a)),
         NumberCell(PrettyIn(d.unit, p.mean_b)),
         NumberCell(absl::StrFormat("%+.2f %%", 100 * d.relative)), HtmlCell{.html = picture.Of(d)},
         NumberCell(PrettyIn(d.unit, p.low) + " .. " + PrettyIn(d.unit, p.high)),
         NumberCell(p_text),
         HtmlCell{.html = absl::StrFormat("<span class=\"%s\">%s</span>", ClassOf(word), word)}});
  }
  return HtmlTable(rows) +
         absl::StrFormat(
             "<p class=\"note\">Paired over %d seeds. Intervals are from the bootstrap "
             "over seeds; p is Student's, corrected for %d comparisons (Holm). A "
             "difference is shown if p is at most %.3g and the interval excludes "
             "zero.</p>\n",
             ab.seeds.size(), ab.comparisons, ab.alpha);
}

}  // namespace weir
