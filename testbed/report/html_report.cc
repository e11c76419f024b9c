#include "testbed/report/html_report.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "testbed/experiment/fingerprint.h"
#include "testbed/experiment/report.h"
#include "testbed/experiment/report_parts.h"
#include "testbed/experiment/report_text.h"
#include "testbed/experiment/statistics.h"

namespace weir {
namespace {

struct Remark {
  std::string label;
  std::string text;
};

std::vector<Remark> RemarksOf(const std::vector<RunResult>& results) {
  std::vector<Remark> remarks;
  for (const RunResult& r : results) {
    const std::string where = absl::StrFormat("%s, seed %d", r.arm, r.seed);
    if (r.real_time.has_value() && !r.real_time->too_busy.empty()) {
      remarks.push_back({"Too busy: " + where, r.real_time->too_busy});
    }
    for (const std::string& w : r.warnings) remarks.push_back({"Warning: " + where, w});
    for (const std::string& b : r.breaches) remarks.push_back({"Breach: " + where, b});
  }
  return remarks;
}

std::string Warnings(const std::vector<RunResult>& results) {
  constexpr size_t kMost = 20;
  const std::vector<Remark> remarks = RemarksOf(results);
  if (remarks.empty()) return "";
  std::string out = "<div class=\"warnings\">\n";
  for (size_t i = 0; i < std::min(kMost, remarks.size()); ++i) {
    out += absl::StrFormat("<p><b>%s</b>: %s</p>\n", Escaped(remarks[i].label),
                           Escaped(remarks[i].text));
  }
  if (remarks.size() > kMost) {
    out += absl::StrFormat("<p>and %d more</p>\n", remarks.size() - kMost);
  }
  return out + "</div>\n";
}

struct ArmFigure {
  const char* name;
  const char* unit;
  double (*of)(const RunResult&);
  bool of_fabric = false;  // only where a model of one took part
};
constexpr ArmFigure kFigures[] = {
    {"last completion", "ns",
     [](const RunResult& r) { return static_cast<double>(r.makespan.count()); }},
    {"/ ideal", "",
     [](const RunResult& r) { return r.ideal > Duration(0) ? Ratio(r.makespan, r.ideal) : 0; }},
    {"mean", "ns", [](const RunResult& r) { return r.completion.mean; }},
    {"p99", "ns", nullptr},  // of all transfers together
    {"goodput", "bps", [](const RunResult& r) { return r.goodput_bps; }},
    {"fairness", "", [](const RunResult& r) { return r.fairness; }},
    {"sent again", "packets",
     [](const RunResult& r) { return static_cast<double>(r.counters.retransmitted_packets); }},
    {"peak queue", "bytes",
     [](const RunResult& r) {
       return r.fabric.has_value() ? static_cast<double>(r.fabric->queue_peak.count()) : 0;
     },
     true},
};

double MeanOver(const std::vector<const RunResult*>& runs, double (*of)(const RunResult&)) {
  std::vector<double> values;
  for (const RunResult* r : runs) values.push_back(of(*r));
  return MeanInterval(values).mean;
}

double PooledP99(const std::vector<const RunResult*>& runs) {
  std::vector<double> values;
  for (const RunResult* r : runs) {
    for (const TransferResult& t : r->transfers) {
      if (t.finished()) values.push_back(static_cast<double>((t.sent - t.start).count()));
    }
  }
  return Summarize(values).p99;
}

std::string ArmTable(const Experiment& e, const std::vector<RunResult>& results) {
  std::vector<HtmlRow> rows;
  HtmlRow head{TextCell("arm"), NumberCell("finished")};
  const bool fabric =
      std::ranges::any_of(results, [](const RunResult& r) { return r.fabric.has_value(); });
  std::vector<const ArmFigure*> figures;
  for (const ArmFigure& figure : kFigures) {
    if (fabric || !figure.of_fabric) figures.push_back(&figure);
  }
  for (const ArmFigure* figure : figures) head.push_back(NumberCell(figure->name));
  rows.push_back(head);
  for (const Arm& arm : e.arms) {
    std::vector<const RunResult*> runs;
    for (const RunResult& r : results) {
      if (r.arm == arm.name) runs.push_back(&r);
    }
    const auto finished =
        std::ranges::count_if(runs, [](const RunResult* r) { return r->finished; });
    HtmlRow row{HeadCell(arm.name),
                NumberCell(absl::StrFormat("%d of %d runs", finished, runs.size()))};
    for (const ArmFigure* figure : figures) {
      const double value = figure->of == nullptr ? PooledP99(runs) : MeanOver(runs, figure->of);
      row.push_back(NumberCell(PrettyIn(figure->unit, value)));
    }
    rows.push_back(row);
  }
  return HtmlTable(rows);
}

// "Permutation of ...: 3 arms over 10 seeds on leaf_spine ..., in virtual time."
std::string Question(const Experiment& e) {
  std::string arms;
  for (size_t i = 0; i < e.arms.size(); ++i) {
    const Binding& b = e.arms[i].binding;
    arms += absl::StrFormat("%s<b>%s</b> (%s over %s)",
                            i == 0                   ? ""
                            : i + 1 == e.arms.size() ? " and "
                                                     : ", ",
                            Escaped(e.arms[i].name), b.cc->name, b.lb->name);
  }
  return absl::StrFormat("<p>%s carry the same traffic, %s, on %s; %d %s; %s.</p>\n", arms,
                         Escaped(e.traffic.name), Escaped(e.fabric.topology.name), e.seeds.size(),
                         e.seeds.size() == 1 ? "seed" : "seeds", Escaped(HomeText(e)));
}

std::string FingerprintTable(const Experiment& e) {
  const Fingerprint f = MakeFingerprint();
  std::vector<HtmlRow> rows{{TextCell("of"), TextCell("is")}};
  const std::pair<const char*, std::string> facts[] = {{"weir", f.version + ", " + f.revision},
                                                       {"compiler", f.compiler},
                                                       {"build", f.build},
                                                       {"carried by", DriverText(e)},
                                                       {"system", f.system},
                                                       {"processor", f.cpu},
                                                       {"clock source", f.clock}};
  for (const auto& [name, value] : facts) rows.push_back({HeadCell(name), TextCell(value)});
  return HtmlTable(rows);
}

}  // namespace

std::string HtmlReport(const Experiment& e, const std::vector<RunResult>& results,
                       const AbResult* ab) {
  HtmlPage page(e.name);
  page.Add("<h1>" + Escaped(e.name) + "</h1>\n" + Question(e));
  if (ab != nullptr) page.Add(VerdictCards(*ab));
  page.Add(Warnings(results));
  if (const std::string machine = MachineText(results); !machine.empty()) {
    page.Add("<p>" + Escaped(machine) + "</p>\n");
  }
  page.Heading("Results");
  page.Add(ArmTable(e, results));
  if (e.seeds.size() > 1)
    page.Add("<p class=\"note\">Means over the seeds; p99 of the transfers of all seeds.</p>\n");
  page.Charts(CompletionCharts(results));
  if (const std::string calls = OperationsTable(results); !calls.empty()) {
    page.Heading("Collectives");
    page.Add(calls);
    const std::vector<Chart> bandwidth = BandwidthCharts(results);
    if (!bandwidth.empty()) page.Charts(bandwidth);
  }
  if (const std::string parts = BreakdownTable(results); !parts.empty()) {
    page.Heading("Where the time goes");
    page.Add(parts);
    page.Add(
        "<p class=\"note\">Shares of the time since the first arrival, along the chain of events "
        "that the end waited for.</p>\n");
  }
  if (ab != nullptr) {
    page.Heading("Differences to " + ab->baseline);
    page.Add(DifferenceTable(*ab));
  }
  const std::vector<Chart> samples = SampleCharts(results);
  if (!samples.empty()) {
    page.Heading("Over time");
    page.Charts(samples);
  }
  page.Heading("What was run");
  page.Add("<pre>" + Escaped(EffectiveConfig(e)) + "</pre>\n");
  page.Heading("With what");
  page.Add(FingerprintTable(e));
  return page.Text();
}

}  // namespace weir
