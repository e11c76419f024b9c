// Speed of virtual time: packets that come to the end of a link, a second of CPU time.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/str_format.h"
#include "testbed/experiment/experiment.h"
#include "testbed/experiment/runner.h"

namespace weir {
namespace {

Experiment Parse(const std::string& text) {
  absl::StatusOr<Experiment> experiment = ParseExperiment(text, "testbed_bench", {});
  if (experiment.ok()) return *std::move(experiment);
  std::fprintf(stderr, "%s\n", std::string(experiment.status().message()).c_str());
  std::abort();
}

// One whole run, connections opened and all, of a leaf-spine fabric of 400 Gb/s.
void LeafSpine(benchmark::State& state, const std::string& traffic, const std::string& cc) {
  const auto leaves = static_cast<int>(state.range(0));
  const Experiment experiment = Parse(absl::StrFormat(
      "[fabric]\nleaves = %d\nhosts_per_leaf = 16\nspines = 16\n[traffic]\n%s\n[[arms]]\ncc = "
      "\"%s\"\nlb = \"reps\"\n",
      leaves, traffic, cc));
  uint64_t hops = 0;
  uint64_t packets = 0;
  uint64_t events = 0;
  for (auto _ : state) {
    const RunResult result = RunArm(experiment, experiment.arms.front(), 1);
    if (!result.finished) state.SkipWithError("the run did not finish");
    hops += result.fabric->stats.hops;
    packets += result.counters.data_packets_sent;
    events += result.events;
  }
  using benchmark::Counter;
  state.counters["hops/s"] = Counter(static_cast<double>(hops), Counter::kIsRate);
  state.counters["data_packets/s"] = Counter(static_cast<double>(packets), Counter::kIsRate);
  state.counters["events_a_packet"] = static_cast<double>(events) / static_cast<double>(packets);
}

BENCHMARK_CAPTURE(LeafSpine, permutation_2MB, "type = \"permutation\"\nsize = \"2MB\"", "nscc")
    ->Arg(8)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(LeafSpine, incast32_1MB, "type = \"incast\"\nsenders = 32\nsize = \"1MB\"",
                  "rccc")
    ->Arg(8)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(LeafSpine, all_to_all_64KB, "type = \"all_to_all\"\nsize = \"64kB\"", "nscc")
    ->Arg(2)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weir
