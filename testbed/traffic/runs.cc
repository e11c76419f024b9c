#include "testbed/traffic/runs.h"

namespace weir {
namespace {

// Runs beyond one for each transfer before a repetition counts as endless.
constexpr size_t kRepeatsMax = 1'000'000;

}  // namespace

std::vector<std::vector<uint32_t>> WaitingFor(const Traffic& traffic) {
  std::vector<std::vector<uint32_t>> waiting(traffic.triggers.size());
  for (uint32_t i = 0; i < traffic.transfers.size(); ++i) {
    const uint32_t after = traffic.transfers[i].after;
    if (after != kNoTrigger) waiting[after].push_back(i);
  }
  return waiting;
}

bool Fire(const Traffic& traffic, uint32_t t, std::vector<uint32_t>& fired) {
  const Trigger& trigger = traffic.triggers[t];
  ++fired[t];
  return fired[t] == trigger.count || (trigger.repeats && fired[t] > trigger.count);
}

// The times of the firings don't change their number, so they are taken in any order.
std::optional<std::vector<uint32_t>> CountRuns(const Traffic& traffic) {
  const std::vector<std::vector<uint32_t>> waiting = WaitingFor(traffic);
  std::vector<uint32_t> runs(traffic.transfers.size(), 0);
  std::vector<uint32_t> fired(traffic.triggers.size(), 0);
  std::vector<uint32_t> started;
  for (uint32_t i = 0; i < traffic.transfers.size(); ++i) {
    if (traffic.transfers[i].after == kNoTrigger) started.push_back(i);
  }
  const size_t runs_max = traffic.transfers.size() + kRepeatsMax;
  for (size_t total = 0; !started.empty(); ++total) {
    if (total + started.size() > runs_max) return std::nullopt;
    const uint32_t i = started.back();
    started.pop_back();
    ++runs[i];
    for (const uint32_t t : {traffic.transfers[i].on_sent, traffic.transfers[i].on_received}) {
      if (t == kNoTrigger || !Fire(traffic, t, fired)) continue;
      started.insert(started.end(), waiting[t].begin(), waiting[t].end());
    }
  }
  return runs;
}

}  // namespace weir
