// What one choice of a path costs each policy, with the news of a packet one BDP ago.
#include <benchmark/benchmark.h>

#include <array>
#include <string>

#include "lb_policies/registry.h"

namespace weir {
namespace {

constexpr LbInfo kInfo = {
    .paths = 256, .mtu = Bytes(4158), .bdp = Bytes(600'000), .base_rtt = Micros(12), .seed = 1};
constexpr size_t kInFlight = 128;

// Each packet's fate is known 128 packets later; one in `good_in_a_row` + 1 was marked.
void Choose(benchmark::State& state, const LbEntry& entry, int64_t good_in_a_row) {
  LbSlot lb(entry, kInfo);
  std::array<PathId, kInFlight> sent{};
  size_t oldest = 0;
  int64_t good_left = good_in_a_row;
  TxContext tx{.size = kInfo.mtu, .in_flight = kInfo.bdp, .window = kInfo.bdp};
  for (auto _ : state) {
    tx.now = tx.now + Nanos(83);
    const PathId path = lb->PickPath(tx);
    benchmark::DoNotOptimize(path);
    if (entry.learns) {
      const bool marked = good_left-- == 0;
      if (marked) good_left = good_in_a_row;
      lb->OnFeedback({.now = tx.now,
                      .path = sent[oldest],
                      .event = marked ? PathEvent::kMarked : PathEvent::kGood});
    }
    sent[oldest] = path;
    oldest = (oldest + 1) % kInFlight;
  }
  state.counters["state_bytes"] = static_cast<double>(entry.state_bytes);
}

const bool kRegistered = [] {
  for (const LbEntry& entry : AllLb()) {
    const std::string suffix = std::string("/") + entry.name;
    benchmark::RegisterBenchmark(("Choose" + suffix).c_str(), Choose, entry, 9);
  }
  return true;
}();

}  // namespace
}  // namespace weir
