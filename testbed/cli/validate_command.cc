// weir validate: scenarios whose results are known from elsewhere, theirs beside ours.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <sstream>

#include "absl/strings/str_format.h"
#include "datapath/text/table_reader.h"
#include "testbed/cli/commands.h"
#include "testbed/cli/experiment_options.h"
#include "testbed/cli/failure.h"
#include "testbed/experiment/report.h"

namespace weir {
namespace {

// One scenario and what another tool gives for it.
struct Row {
  std::string name;
  ExperimentOptions options;
  Duration theirs{};      // completion of the last transfer
  Duration theirs_low{};  // their range over seeds; 0: one seed
  Duration theirs_high{};
  double tolerance = 0.05;
  std::string why;  // a known difference of model: the row explains itself if it is outside
};

void ReadRow(TableReader& r, Row& row) {
  r.String("name", row.name);
  r.String("topology", row.options.topology);
  r.String("traffic", row.options.traffic);
  r.String("cc", row.options.cc);
  r.String("lb", row.options.lb);
  r.Time("last", row.theirs);
  r.Time("low", row.theirs_low);
  r.Time("high", row.theirs_high);
  r.Number("tolerance", 0, 10, row.tolerance);
  r.String("why", row.why);
  int seeds = 10;
  r.Integer("seeds", 1, 1000, seeds);
  if (const toml::array* sets = r.Array("set")) {
    for (const toml::node& node : *sets) {
      if (node.is_string()) row.options.sets.push_back(node.as_string()->get());
    }
  }
  if (const toml::array* faults = r.Array("faults")) {
    std::ostringstream text;
    for (const toml::node& fault : *faults) {
      if (!fault.is_table()) continue;
      toml::table table = *fault.as_table();
      table.is_inline(false);
      text << "[[faults]]\n" << table << "\n";
    }
    row.options.more = text.str();
  }
  row.options.sets.push_back(absl::StrFormat("run.seeds=%d", seeds));
  if (row.theirs <= Duration(0)) r.Fail(nullptr, "each row needs last, as in last = \"52.3us\"");
  r.Finish();
}

absl::StatusOr<std::vector<Row>> ReadRows(const std::string& file) {
  toml::table table;
  try {
    table = toml::parse_file(file);
  } catch (const toml::parse_error& error) {
    return absl::InvalidArgumentError(absl::StrFormat("%s:%d: %s", file, error.source().begin.line,
                                                      std::string(error.description())));
  }
  absl::Status status;
  TableReader root(table, "top level", file, status);
  std::vector<std::string> sets;
  if (const toml::array* common = root.Array("set")) {
    for (const toml::node& node : *common) {
      if (node.is_string()) sets.push_back(node.as_string()->get());
    }
  }
  std::vector<Row> rows;
  if (const toml::array* array = root.Array("rows")) {
    for (const toml::node& node : *array) {
      if (!node.is_table()) {
        root.Fail(&node, "write [[rows]]");
        break;
      }
      TableReader r(*node.as_table(), "rows", file, status);
      Row& row = rows.emplace_back();
      row.options.sets = sets;
      ReadRow(r, row);
    }
  }
  root.Finish();
  if (!status.ok()) return status;
  return rows;
}

std::string Micros(Duration d) {
  return absl::StrFormat("%.1f", static_cast<double>(d.count()) / 1e3);
}

// Runs one row and prints it. False: it could not run.
bool RunRow(const Row& row, bool quiet, bool& within) {
  const absl::StatusOr<Experiment> experiment = MakeExperiment(row.options);
  if (!experiment.ok()) {
    std::fprintf(stderr, "weir validate: %s: %s\n", row.name.c_str(),
                 std::string(experiment.status().message()).c_str());
    return false;
  }
  const std::vector<RunResult> results = RunAll(*experiment, quiet);
  std::vector<Duration> last;
  for (const RunResult& r : results) {
    if (!r.finished || !r.breaches.empty()) {
      std::fprintf(stderr, "weir validate: %s, seed %llu did not finish cleanly\n",
                   row.name.c_str(), static_cast<unsigned long long>(r.seed));
      return false;
    }
    last.push_back(r.makespan);
  }
  std::sort(last.begin(), last.end());
  const Duration median = last[last.size() / 2];
  const double ratio = Ratio(median, row.theirs);
  within = std::abs(ratio - 1) <= row.tolerance;
  const std::string range = row.theirs_low > Duration(0) ? " (" + Micros(row.theirs_low) + " .. " +
                                                               Micros(row.theirs_high) + ")"
                                                         : "";
  const std::string ours =
      last.size() > 1 ? " (" + Micros(last.front()) + " .. " + Micros(last.back()) + ")" : "";
  std::printf("| %s | %s / %s | %s%s | %s%s | %.3f | %s |\n", row.name.c_str(),
              row.options.cc.c_str(), row.options.lb.c_str(), Micros(row.theirs).c_str(),
              range.c_str(), Micros(median).c_str(), ours.c_str(), ratio,
              within            ? absl::StrFormat("within %g %%", 100 * row.tolerance).c_str()
              : row.why.empty() ? absl::StrFormat("outside %g %%", 100 * row.tolerance).c_str()
                                : row.why.c_str());
  std::fflush(stdout);
  return true;
}

int Validate(const std::string& file, bool quiet) {
  const absl::StatusOr<std::vector<Row>> rows = ReadRows(file);
  if (!rows.ok()) return Fail("validate", rows.status(), kExitUsage);
  std::printf(
      "| scenario | algorithm / policy | theirs, last us | Weir, last us (range over seeds) "
      "| ratio | |\n|---|---|---|---|---|---|\n");
  int exit_code = kExitOk;
  for (const Row& row : *rows) {
    bool within = false;
    if (!RunRow(row, quiet, within)) return kExitFailed;
    if (!within && row.why.empty()) exit_code = kExitFailed;
  }
  return exit_code;
}

}  // namespace

void AddValidateCommand(CLI::App& app, int& exit_code) {
  struct Arguments {
    std::string file;
    bool quiet = false;
  };
  auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand(
      "validate", "Run scenarios whose results are known from elsewhere, theirs beside ours");
  command->add_option("file", arguments->file, "a TOML file of [[rows]]")->required();
  command->add_flag("--quiet", arguments->quiet, "no progress line");
  command->footer(
      "Example: weir validate testbed/experiments/peers.toml\n"
      "Exit code 1 if a row is outside its tolerance without a stated reason.");
  command->callback(
      [arguments, &exit_code] { exit_code = Validate(arguments->file, arguments->quiet); });
}

}  // namespace weir
