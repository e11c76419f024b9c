// The report of a sweep.
#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/str_format.h"
#include "testbed/experiment/report_text.h"
#include "testbed/report/html_report.h"

namespace weir {
namespace {

// What a sweep says of one arm at one point.
struct Cell {
  double last = 0;
  double p99 = 0;
  double goodput = 0;
  size_t runs = 0;
  size_t finished = 0;
};
using ByArm = std::map<std::string, Cell>;

const char* ClassOf(const std::string& word) {
  return word == "better" || word == "worse" || word == "mixed" ? word.c_str() : "plain";
}

class SweepPage {
 public:
  SweepPage(const SweepFolders& folders, const std::vector<AbResult>& comparisons)
      : folders_(folders), comparisons_(comparisons), points_(folders.points()) {}

  absl::Status Read() {
    return folders_.ForEachRun([this](uint32_t point, const RunResult& r, const std::string&) {
      if (std::find(arms_.begin(), arms_.end(), r.arm) == arms_.end()) arms_.push_back(r.arm);
      Cell& cell = points_[point][r.arm];
      ++cell.runs;
      cell.finished += r.finished ? 1 : 0;
      cell.last += static_cast<double>(r.makespan.count());
      cell.p99 += r.completion.p99;
      cell.goodput += r.goodput_bps;
      return absl::OkStatus();
    });
  }

  std::string Text() const {
    HtmlPage page(folders_.name());
    page.Add(absl::StrFormat("<h1>%s</h1>\n<p>A sweep of %d points, %d runs%s.</p>\n",
                             Escaped(folders_.name()), folders_.points(), folders_.runs().size(),
                             folders_.missing() == 0 ? ""
                                                     : absl::StrFormat(", of which %d are missing",
                                                                       folders_.missing())));
    page.Add(Tally());
    page.Heading("Over the points");
    page.Charts({ChartOf("Last completion", "last completion", "ns", &Cell::last),
                 ChartOf("p99 completion", "p99 completion", "ns", &Cell::p99),
                 ChartOf("Goodput", "goodput", "bps", &Cell::goodput)});
    page.Heading("Points");
    page.Add(PointTable());
    return page.Text();
  }

 private:
  // How often each verdict was given.
  std::string Tally() const {
    std::map<std::string, std::map<std::string, int>> counts;
    std::string baseline;
    for (const AbResult& ab : comparisons_) {
      for (const AbVerdict& v : ab.verdicts) ++counts[v.arm][v.word];
      if (!ab.verdicts.empty()) baseline = ab.baseline;
    }
    if (counts.empty()) return "";
    std::string out = "<div class=\"verdicts\">\n";
    for (const auto& [arm, words] : counts) {
      std::string text;
      for (const auto& [word, n] : words) {
        text += absl::StrFormat("%s%s at %d of %d points", text.empty() ? "" : ", ", word, n,
                                folders_.points());
      }
      const std::string word = words.size() == 1 ? words.begin()->first
                               : words.contains("worse") || words.contains("mixed")
                                   ? "mixed"
                                   : "depends on the point";
      out += absl::StrFormat(
          "<div class=\"verdict %s\"><span class=\"arm\">%s</span> <span class=\"dim\">against "
          "%s</span><b>%s</b><p>%s</p></div>\n",
          ClassOf(word), Escaped(arm), Escaped(baseline), Escaped(word), Escaped(text));
    }
    return out + "</div>\n";
  }

  Chart ChartOf(const char* title, const char* label, const char* unit, double Cell::*of) const {
    Chart chart{.title = title,
                .note = "Points by their number in the table; means over the seeds.",
                .x_label = "point",
                .y_label = label,
                .y_unit = unit,
                .points = true};
    for (size_t p = 0; p < points_.size(); ++p) chart.x.push_back(static_cast<double>(p + 1));
    for (const std::string& arm : arms_) {
      Chart::Series series{.label = arm};
      for (const ByArm& point : points_) series.y.push_back(MeanAt(point, arm, of));
      chart.series.push_back(std::move(series));
    }
    return chart;
  }

  static double MeanAt(const ByArm& point, const std::string& arm, double Cell::*of) {
    const auto cell = point.find(arm);
    return cell == point.end() ? std::nan("")
                               : cell->second.*of / static_cast<double>(cell->second.runs);
  }

  std::string PointTable() const {
    std::vector<HtmlRow> rows;
    HtmlRow head{NumberCell("point")};
    for (const std::string& key : folders_.keys()) head.push_back(TextCell(key));
    for (const char* name : {"arm", "verdict"}) head.push_back(TextCell(name));
    for (const char* name : {"finished", "last completion", "p99", "goodput"}) {
      head.push_back(NumberCell(name));
    }
    rows.push_back(head);
    for (uint32_t p = 0; p < points_.size(); ++p) {
      for (const std::string& arm : arms_) {
        const auto cell = points_[p].find(arm);
        if (cell == points_[p].end()) continue;
        HtmlRow row{NumberCell(absl::StrFormat("%d", p + 1))};
        for (const std::string& value : folders_.ValuesAt(p)) row.push_back(TextCell(value));
        const std::string word = WordFor(comparisons_[p], arm);
        row.push_back(HeadCell(arm));
        row.push_back({.html = absl::StrFormat("<span class=\"%s\">%s</span>", ClassOf(word),
                                               word.empty() ? "baseline" : Escaped(word))});
        const auto& [last, p99, goodput, runs, finished] = cell->second;
        const auto n = static_cast<double>(runs);
        row.push_back(NumberCell(absl::StrFormat("%d of %d runs", finished, runs)));
        row.push_back(NumberCell(PrettyIn("ns", last / n)));
        row.push_back(NumberCell(PrettyIn("ns", p99 / n)));
        row.push_back(NumberCell(PrettyIn("bps", goodput / n)));
        rows.push_back(row);
      }
    }
    return HtmlTable(rows);
  }

  const SweepFolders& folders_;
  const std::vector<AbResult>& comparisons_;
  std::vector<ByArm> points_;
  std::vector<std::string> arms_;
};

}  // namespace

absl::StatusOr<std::string> HtmlSweepReport(const SweepFolders& folders,
                                            const std::vector<AbResult>& comparisons) {
  SweepPage page(folders, comparisons);
  if (absl::Status s = page.Read(); !s.ok()) return s;
  return page.Text();
}

}  // namespace weir
