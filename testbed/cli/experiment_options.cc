#include "testbed/cli/experiment_options.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>

#include "absl/strings/str_format.h"
#include "testbed/cli/commands.h"
#include "testbed/cli/failure.h"
#include "testbed/experiment/report.h"
#include "testbed/experiment/runner.h"
#include "testbed/report/chrome_trace.h"
#include "testbed/report/html_report.h"
#include "testbed/report/table_sink.h"

namespace weir {
namespace {

struct RunLabel {
  std::string arm;
  uint64_t seed = 0;
};

// A line on a terminal that says how far it is, for anything that takes over two seconds.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet) : shown_(!quiet && isatty(STDERR_FILENO) != 0) {}
  ~ProgressLine() { Clear(); }
  void Show(size_t run, size_t runs, const RunLabel& label, const Progress& p);
  void Clear() {
    if (printed_) std::fprintf(stderr, "\r\033[K");
    printed_ = false;
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool shown_;
  bool printed_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_{};
};

void ProgressLine::Show(size_t run, size_t runs, const RunLabel& label, const Progress& p) {
  const Clock::time_point now = Clock::now();
  if (!shown_ || now - start_ < std::chrono::seconds(2)) return;
  if (now - last_ < std::chrono::milliseconds(200)) return;
  last_ = now;
  printed_ = true;
  std::fprintf(stderr, "\r\033[Krun %zu of %zu (%s, seed %llu): %llu of %llu transfers, %s", run,
               runs, label.arm.c_str(), static_cast<unsigned long long>(label.seed),
               static_cast<unsigned long long>(p.finished),
               static_cast<unsigned long long>(p.transfers), Pretty(p.elapsed).c_str());
}

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string Quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

bool WriteText(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (out) return true;
  std::fprintf(stderr, "weir: %s can't be written; check the folder and the rights\n",
               path.c_str());
  return false;
}

absl::Status WriteCsv(const std::string& folder, const std::vector<RunResult>& results) {
  absl::StatusOr<std::unique_ptr<TableSink>> sink = MakeCsvSink(folder, {});
  if (!sink.ok()) return sink.status();
  for (const RunResult& r : results) {
    if (absl::Status s = (*sink)->Add({}, r); !s.ok()) return s;
  }
  return (*sink)->Finish();
}

}  // namespace

void AddExperimentOptions(CLI::App& command, ExperimentOptions& o) {
  command.add_option("experiment", o.file, "a TOML file; or use the short form below");
  command.add_option("--set", o.sets, "override a key: --set fabric.rate=100Gbps (repeatable)")
      ->allow_extra_args(false)
      ->take_all();
  command.add_option("--seed", o.seeds, "run this seed instead of the file's (repeatable)")
      ->allow_extra_args(false)
      ->take_all();
  command.add_option("--json", o.json, "write the results there as JSON; - is standard output");
  command.add_option("--csv", o.csv, "write runs.csv and transfers.csv into this folder");
  command.add_option("--html", o.html, "write a report there: one HTML file that works offline");
  command.add_option("--trace", o.trace,
                     "write a time line in the Chrome trace format, as Perfetto opens it");
  command.add_option("--home", o.home,
                     "virtual, loopback, ports or rdma; short for --set run.home=...");
  command.add_flag("--quiet", o.quiet, "no progress line, no effective configuration");
  command.add_option("--topology", o.topology, "a topology's name or FILE.topo");
  command.add_option("--traffic", o.traffic, "a traffic's name or FILE.cm");
  command.add_option("--cc", o.cc, "algorithm; several, separated by commas, are several arms");
  command.add_option("--lb", o.lb, "policy; several, separated by commas, are several arms");
}

absl::StatusOr<Experiment> MakeExperiment(const ExperimentOptions& o) {
  std::vector<std::string> sets = o.sets;
  if (!o.home.empty()) sets.push_back("run.home=" + o.home);
  const bool short_form =
      !o.topology.empty() || !o.traffic.empty() || !o.cc.empty() || !o.lb.empty();
  if (!o.file.empty() && short_form) {
    return absl::InvalidArgumentError(
        "an experiment file and --topology, --traffic, --cc, --lb exclude each other; to change a "
        "file's value use --set");
  }
  if (o.file.empty() && !short_form) {
    return absl::InvalidArgumentError(
        "name an experiment file, or use --topology, --traffic, --cc and --lb");
  }
  if (!o.seeds.empty()) {
    std::string list;
    for (const uint64_t seed : o.seeds)
      list += absl::StrFormat("%s%d", list.empty() ? "" : ",", seed);
    sets.push_back("run.seeds=[" + list + "]");
  }
  if (!short_form) return LoadExperiment(o.file, sets);

  std::string text = "name = \"command line\"\n[fabric]\n";
  const std::string topology = o.topology.empty() ? "leaf_spine" : o.topology;
  text += (EndsWith(topology, ".topo") ? "file = " : "topology = ") + Quoted(topology) + "\n";
  const std::string traffic = o.traffic.empty() ? "permutation" : o.traffic;
  text += "[traffic]\n";
  text += (EndsWith(traffic, ".cm") ? "file = " : "type = ") + Quoted(traffic) + "\n";
  for (const std::string& cc : CLI::detail::split(o.cc.empty() ? "nscc" : o.cc, ',')) {
    for (const std::string& lb : CLI::detail::split(o.lb.empty() ? "reps" : o.lb, ',')) {
      text += "[[arms]]\ncc = " + Quoted(cc) + "\nlb = " + Quoted(lb) + "\n";
    }
  }
  return ParseExperiment(text + o.more, "command line", sets);
}

bool HasSeedsEnough(const char* command, const Experiment& experiment) {
  constexpr size_t kLeast = 3;
  if (experiment.seeds.size() >= kLeast) return true;
  Fail(command,
       absl::InvalidArgumentError(absl::StrFormat(
           "%d seeds are too few for an interval; use at least three, better ten ([run] seeds = "
           "10, or --set run.seeds=10)",
           experiment.seeds.size())),
       kExitUsage);
  return false;
}

std::vector<RunResult> RunAll(const Experiment& experiment, bool quiet) {
  return RunSeeds(experiment, experiment.seeds, quiet);
}

std::vector<RunResult> RunSeeds(const Experiment& experiment, const std::vector<uint64_t>& seeds,
                                bool quiet) {
  std::vector<RunResult> results;
  ProgressLine line(quiet);
  const size_t arms = experiment.arms.size();
  for (size_t i = 0; i < seeds.size(); ++i) {
    const bool reverse = experiment.home != HomeKind::kVirtual && i % 2 == 1;
    for (size_t turn = 0; turn < arms; ++turn) {
      const Arm& arm = experiment.arms[reverse ? arms - 1 - turn : turn];
      const RunLabel label{arm.name, seeds[i]};
      results.push_back(RunArm(experiment, arm, seeds[i], [&](const Progress& p) {
        line.Show(results.size() + 1, seeds.size() * arms, label, p);
      }));
    }
    if (reverse) std::reverse(results.end() - static_cast<std::ptrdiff_t>(arms), results.end());
  }
  return results;
}

int WriteOutputs(const ExperimentOptions& options, const Experiment& experiment,
                 const std::vector<RunResult>& results, const AbResult* ab, const League* league) {
  if (options.json == "-") {
    std::printf("%s\n", Document(experiment, results, ab, league).dump(1).c_str());
  } else if (!options.json.empty() &&
             !WriteText(options.json, Document(experiment, results, ab, league).dump(1) + "\n")) {
    return kExitUsage;
  }
  if (!options.csv.empty()) {
    if (const absl::Status s = WriteCsv(options.csv, results); !s.ok()) {
      std::fprintf(stderr, "weir: %s\n", std::string(s.message()).c_str());
      return kExitUsage;
    }
  }
  if (!options.html.empty() && !WriteText(options.html, HtmlReport(experiment, results, ab))) {
    return kExitUsage;
  }
  if (!options.trace.empty() && !WriteText(options.trace, ChromeTrace(results).dump() + "\n")) {
    return kExitUsage;
  }
  return kExitOk;
}

void PrintRemarks(const std::vector<RunResult>& results) {
  for (const RunResult& r : results) {
    if (r.real_time.has_value() && !r.real_time->too_busy.empty()) {
      std::printf("TOO BUSY: %s, seed %llu: %s\n", r.arm.c_str(),
                  static_cast<unsigned long long>(r.seed), r.real_time->too_busy.c_str());
    }
    for (const std::string& w : r.warnings) {
      std::printf("warning: %s, seed %llu: %s\n", r.arm.c_str(),
                  static_cast<unsigned long long>(r.seed), w.c_str());
    }
    for (const std::string& b : r.breaches) {
      std::printf("BREACH: %s, seed %llu: %s\n", r.arm.c_str(),
                  static_cast<unsigned long long>(r.seed), b.c_str());
    }
  }
}

int ExitCodeOf(const std::vector<RunResult>& results) {
  for (const RunResult& r : results) {
    if (!r.finished || !r.breaches.empty()) return kExitFailed;
  }
  return kExitOk;
}

}  // namespace weir
