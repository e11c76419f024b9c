// weir sweep: all runs of an experiment with factors, on all cores, resumable and in shards.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "testbed/cli/commands.h"
#include "testbed/cli/failure.h"
#include "testbed/experiment/runner.h"
#include "testbed/loopback/time_scale.h"
#include "testbed/sweep/store.h"
#include "testbed/sweep/sweep.h"
#include "testbed/sweep/workers.h"

namespace weir {
namespace {

struct SweepOptions {
  std::string file;
  std::vector<std::string> sets;
  std::string out;
  uint32_t jobs = 0;
  std::string shard;
  bool slurm = false;
  bool quiet = false;
  bool worker = false;
};

struct Shard {
  uint32_t index = 1;  // 1 to count
  uint32_t count = 1;
};

std::optional<uint32_t> NumberOf(const std::string& text) {
  uint32_t number = 0;
  if (text.empty() || !std::ranges::all_of(text, ::isdigit)) return std::nullopt;
  if (!absl::SimpleAtoi(text.c_str(), &number)) return std::nullopt;
  return number;
}

absl::StatusOr<Shard> ParseShard(const std::string& text) {
  const size_t slash = text.find('/');
  const std::optional<uint32_t> index = NumberOf(text.substr(0, slash));
  const std::optional<uint32_t> count =
      slash == std::string::npos ? std::nullopt : NumberOf(text.substr(slash + 1));
  if (!index || !count || *index < 1 || *index > *count) {
    return absl::InvalidArgumentError("--shard " + text +
                                      ": write I/N, as in 3/8, with I from 1 to N");
  }
  return Shard{*index, *count};
}

// The place of this task in its job array, whatever numbers the array has.
absl::StatusOr<Shard> ShardFromSlurm() {
  const auto number = [](const char* name) {
    const char* text = std::getenv(name);
    return text == nullptr ? std::nullopt : NumberOf(text);
  };
  const std::optional<uint32_t> id = number("SLURM_ARRAY_TASK_ID");
  const std::optional<uint32_t> first = number("SLURM_ARRAY_TASK_MIN");
  const std::optional<uint32_t> last = number("SLURM_ARRAY_TASK_MAX");
  const uint32_t step = std::max(1u, number("SLURM_ARRAY_TASK_STEP").value_or(1));
  if (!id || !first || !last || *id < *first || *id > *last) {
    return absl::InvalidArgumentError(
        "--shard-from-slurm: SLURM_ARRAY_TASK_ID, _MIN and _MAX are not set; start this with "
        "sbatch --array=1-N, or use --shard I/N");
  }
  return Shard{(*id - *first) / step + 1, (*last - *first) / step + 1};
}

// What the worker does with one run.
std::string RunOne(const Sweep& sweep, SweepStore& store, const SweepRun& run) {
  const absl::StatusOr<Experiment> experiment = sweep.ExperimentAt(run.point);
  if (!experiment.ok()) return std::string(experiment.status().message());
  if (run.arm >= experiment->arms.size() || RunId(*experiment, run.arm, run.seed) != run.id) {
    return "its file has changed since the sweep began; start the sweep again";
  }
  const absl::Status put = store.Put(run, RunArm(*experiment, experiment->arms[run.arm], run.seed));
  return put.ok() ? "" : std::string(put.message());
}

int Work(const SweepOptions& o) {
  const absl::StatusOr<Sweep> sweep = Sweep::Open(o.file, o.sets);
  if (!sweep.ok()) return Fail("sweep", sweep.status(), kExitUsage);
  SweepStore store(o.out);
  const absl::StatusOr<std::vector<SweepRun>> runs = store.ReadPlan();
  if (!runs.ok()) return Fail("sweep", runs.status(), kExitUsage);
  ServeAsWorker([&](uint32_t run) {
    return run < runs->size() ? RunOne(*sweep, store, (*runs)[run]) : "there is no such run";
  });
  return kExitOk;
}

// A line that is written over on a terminal, and now and then without one.
class Tally {
 public:
  Tally(const Sweep& sweep, size_t here, bool quiet)
      : sweep_(sweep), here_(here), quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}
  void Count(uint32_t run, const std::string& error) {
    ++done_;
    if (!error.empty()) {
      ++failed_;
      const SweepRun& r = sweep_.runs()[run];
      std::fprintf(stderr, "%sweir sweep: run %s (%s, arm %u, seed %llu): %s\n",
                   terminal_ ? "\r\033[K" : "", r.id.c_str(),
                   PointText(sweep_.factors(), r.point).c_str(), r.arm,
                   static_cast<unsigned long long>(r.seed), error.c_str());
    }
    if (quiet_ || !terminal_) return;
    std::fprintf(stderr, "\r\033[K%zu of %zu runs", done_, here_);
    if (done_ == here_) std::fprintf(stderr, "\r\033[K");
  }
  size_t failed() const { return failed_; }

 private:
  const Sweep& sweep_;
  size_t here_;
  bool quiet_;
  bool terminal_;
  size_t done_ = 0;
  size_t failed_ = 0;
};

std::vector<std::string> WorkerCommand(const SweepOptions& o) {
  std::vector<std::string> command{"weir", "sweep", o.file, "--out", o.out, "--worker"};
  for (const std::string& set : o.sets) {
    command.push_back("--set");
    command.push_back(set);
  }
  return command;
}

int RunSweep(const SweepOptions& o) {
  if (o.worker) return Work(o);
  absl::StatusOr<Shard> shard = Shard{};
  if (!o.shard.empty()) shard = ParseShard(o.shard);
  if (o.slurm) shard = ShardFromSlurm();
  if (!shard.ok()) return Fail("sweep", shard.status(), kExitUsage);
  const absl::StatusOr<Sweep> sweep = Sweep::Load(o.file, o.sets);
  if (!sweep.ok()) return Fail("sweep", sweep.status(), kExitUsage);
  SweepStore store(o.out);
  uint32_t jobs = o.jobs == 0 ? UsableCores() : o.jobs;
  if (sweep->home() == HomeKind::kLoopback) {
    if (o.jobs > 1) {
      return Fail("sweep",
                  absl::InvalidArgumentError(
                      "--jobs: runs in real time would disturb each other; use --jobs 1"),
                  kExitUsage);
    }
    jobs = 1;
  }
  if (absl::Status s = store.Prepare(*sweep, shard->count == 1); !s.ok()) {
    return Fail("sweep", s, kExitUsage);
  }
  std::vector<uint32_t> pending;
  size_t mine = 0;
  for (uint32_t i = shard->index - 1; i < sweep->runs().size(); i += shard->count) {
    ++mine;
    if (!store.Has(sweep->runs()[i].id)) pending.push_back(i);
  }
  if (!o.quiet) {
    std::printf("%s: %zu runs (%u points), %zu in this shard, %zu of them already done\n",
                sweep->name().c_str(), sweep->runs().size(), sweep->points(), mine,
                mine - pending.size());
    std::fflush(stdout);
  }
  Tally tally(*sweep, pending.size(), o.quiet);
  RunInWorkers(WorkerCommand(o), jobs, pending,
               [&](uint32_t run, const std::string& error) { tally.Count(run, error); });
  if (tally.failed() > 0) {
    std::fprintf(stderr, "weir sweep: %zu runs failed; the same command tries them again\n",
                 tally.failed());
    return kExitFailed;
  }
  if (!o.quiet) {
    std::printf("done; now: weir merge %s --out FILE.json\n", o.out.c_str());
  }
  return kExitOk;
}

}  // namespace

void AddSweepCommand(CLI::App& app, int& exit_code) {
  auto o = std::make_shared<SweepOptions>();
  auto* command = app.add_subcommand(
      "sweep", "Run an experiment at every point of its [sweep], on all cores; resumes");
  command->add_option("experiment", o->file, "a TOML file")->required();
  command->add_option("--set", o->sets, "override a key: --set fabric.rate=100Gbps (repeatable)")
      ->allow_extra_args(false)
      ->take_all();
  command->add_option("--out", o->out, "folder for the results; runs found there are not repeated")
      ->required();
  command->add_option("--jobs", o->jobs, "worker processes; default: one a usable core")
      ->check(CLI::Range(1, 1024));
  CLI::Option* shard =
      command->add_option("--shard", o->shard, "I/N: only every N-th run, beginning with the I-th");
  command
      ->add_flag("--shard-from-slurm", o->slurm,
                 "take the shard from SLURM_ARRAY_TASK_ID, _MIN, _MAX and _STEP")
      ->excludes(shard);
  command->add_flag("--quiet", o->quiet, "only errors");
  command->add_flag("--worker", o->worker, "")->group("");  // of `weir sweep` itself
  command->footer(
      "Examples:\n"
      "  weir sweep testbed/experiments/sweep_buffers.toml --out /tmp/sweep\n"
      "  weir sweep FILE --out DIR --shard 3/8      # on the third of eight machines\n"
      "  weir merge DIR --out result.json           # afterwards; see docs/sweeps.md");
  command->callback([o, &exit_code] { exit_code = RunSweep(*o); });
}

}  // namespace weir
