// weir merge: what a sweep left in its folders, as one result.
#include <cstdio>
#include <memory>

#include "testbed/cli/commands.h"
#include "testbed/cli/failure.h"
#include "testbed/experiment/report.h"
#include "testbed/report/html_report.h"
#include "testbed/report/table_sink.h"
#include "testbed/sweep/merge.h"
#include "testbed/sweep/store.h"

namespace weir {
namespace {

struct MergeOptions {
  std::vector<std::string> folders;
  std::string out;
  std::string csv;
  std::string sqlite;
  std::string html;
  bool partial = false;
};

absl::Status WriteTables(const SweepFolders& folders,
                         absl::StatusOr<std::unique_ptr<TableSink>> sink) {
  if (!sink.ok()) return sink.status();
  const absl::Status read =
      folders.ForEachRun([&](uint32_t point, const RunResult& run, const std::string&) {
        return (*sink)->Add(folders.ValuesAt(point), run);
      });
  return read.ok() ? (*sink)->Finish() : read;
}

void PrintVerdicts(const SweepFolders& folders, const std::vector<AbResult>& comparisons) {
  for (uint32_t p = 0; p < comparisons.size(); ++p) {
    if (comparisons[p].verdicts.empty()) continue;
    std::printf("%s\n", PointText(folders.factors(), p).c_str());
    std::printf("%s", VerdictText(comparisons[p]).c_str());
  }
}

int Merge(const MergeOptions& o) {
  const absl::StatusOr<SweepFolders> folders = SweepFolders::Open(o.folders);
  if (!folders.ok()) return Fail("merge", folders.status(), kExitUsage);
  if (folders->missing() > 0 && !o.partial) {
    std::fprintf(
        stderr,
        "weir merge: %zu of %zu runs are missing; run `weir sweep` again (it goes on where "
        "it was), name the folders of all shards, or merge what there is with --partial\n",
        folders->missing(), folders->runs().size());
    return kExitFailed;
  }
  const absl::StatusOr<std::vector<AbResult>> comparisons = folders->Compare();
  if (!comparisons.ok()) return Fail("merge", comparisons.status(), kExitUsage);
  if (absl::Status s = folders->Write(o.out, *comparisons); !s.ok())
    return Fail("merge", s, kExitUsage);
  if (!o.csv.empty()) {
    const absl::Status s = WriteTables(*folders, MakeCsvSink(o.csv, folders->keys()));
    if (!s.ok()) return Fail("merge", s, kExitUsage);
  }
  if (!o.sqlite.empty()) {
    const absl::Status s = WriteTables(*folders, MakeSqliteSink(o.sqlite, folders->keys()));
    if (!s.ok()) return Fail("merge", s, kExitUsage);
  }
  if (!o.html.empty()) {
    const absl::StatusOr<std::string> page = HtmlSweepReport(*folders, *comparisons);
    const absl::Status s = page.ok() ? WriteAtomically(o.html, *page) : page.status();
    if (!s.ok()) return Fail("merge", s, kExitUsage);
  }
  PrintVerdicts(*folders, *comparisons);
  std::printf("%zu runs merged into %s\n", folders->runs().size() - folders->missing(),
              o.out.c_str());
  return kExitOk;
}

}  // namespace

void AddMergeCommand(CLI::App& app, int& exit_code) {
  auto o = std::make_shared<MergeOptions>();
  auto* command = app.add_subcommand("merge", "Merge the folders of a sweep into one result");
  command->add_option("folders", o->folders, "each the --out of a `weir sweep` of the same sweep")
      ->required();
  command->add_option("--out", o->out, "the merged result, JSON")->required();
  command->add_option("--csv", o->csv, "also runs.csv and transfers.csv in this folder");
  command->add_option("--sqlite", o->sqlite, "also a SQLite database");
  command->add_option("--html", o->html, "also a report: one HTML file that works offline");
  command->add_flag("--partial", o->partial, "merge even if runs are missing");
  command->footer("Example: weir merge shard1 shard2 --out result.json --sqlite result.db");
  command->callback([o, &exit_code] { exit_code = Merge(*o); });
}

}  // namespace weir
