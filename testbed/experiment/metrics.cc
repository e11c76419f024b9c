#include "testbed/experiment/metrics.h"

#include <algorithm>
#include <set>
#include <utility>

#include "testbed/experiment/report_text.h"

namespace weir {
namespace {

constexpr size_t kSizesApart = 8;
constexpr int64_t kClassFactor = 4;
constexpr char kWarmup[] = "warmup";  // of a collective; not counted

std::vector<double> CompletionsOf(const RunResult& r, Bytes low, Bytes high) {
  std::vector<double> values;
  for (const TransferResult& t : r.transfers) {
    if (t.finished() && t.size >= low && t.size <= high) {
      values.push_back(static_cast<double>((t.sent - t.start).count()));
    }
  }
  return values;
}

std::string SizeText(Bytes size) { return PrettyBytes(static_cast<double>(size.count())); }

std::vector<double> QueuePeaks(const RunResult& r) {
  if (!r.fabric.has_value()) return {};
  return {static_cast<double>(r.fabric->queue_peak.count())};
}

template <class Fn>
Metric OfRun(const char* name, const char* unit, bool lower_is_better, bool decides, Fn of) {
  return {.name = name,
          .unit = unit,
          .lower_is_better = lower_is_better,
          .decides = decides,
          .values = [of](const RunResult& r) {
            return std::vector<double>{static_cast<double>(of(r))};
          }};
}

void AddCompletions(const SizeClass& of, std::vector<Metric>& out) {
  const std::string suffix = of.name.empty() ? "" : ", " + of.name;
  const auto values = [of](const RunResult& r) { return CompletionsOf(r, of.low, of.high); };
  out.push_back(
      {.name = "mean completion" + suffix, .unit = "ns", .decides = true, .values = values});
  out.push_back({.name = "p99 completion" + suffix,
                 .unit = "ns",
                 .decides = true,
                 .tail = true,
                 .values = values});
}

// What collectives and jobs take, as their users see it.
std::string CallName(const OperationResult& o, bool with_size) {
  return with_size ? o.name + " " + SizeText(o.size) : o.name;
}

// A figure for each kind of call, and for each of its sizes if there are not too many.
void AddCalls(const std::vector<const RunResult*>& runs, std::vector<Metric>& out) {
  std::set<std::pair<std::string, Bytes>> kinds;
  for (const RunResult* r : runs) {
    for (const OperationResult& o : r->operations) kinds.insert({o.name, o.size});
  }
  const bool with_size = kinds.size() <= kSizesApart;
  std::set<std::string> names;
  for (const auto& [name, size] : kinds) {
    if (name == kWarmup) continue;
    OperationResult call{.name = name, .size = size};
    if (!names.insert(CallName(call, with_size)).second) continue;
    const std::string wanted = CallName(call, with_size);
    out.push_back({.name = "time of " + wanted,
                   .unit = "ns",
                   .decides = true,
                   .values = [wanted, with_size](const RunResult& r) {
                     std::vector<double> values;
                     for (const OperationResult& o : r.operations) {
                       if (!o.finished() || CallName(o, with_size) != wanted) continue;
                       values.push_back(static_cast<double>((o.end - o.first_arrival).count()));
                     }
                     return values;
                   }});
  }
}

void AddSteps(const std::vector<const RunResult*>& runs, std::vector<Metric>& out) {
  std::set<std::string> names;
  for (const RunResult* r : runs) {
    for (const JobResult& j : r->jobs) {
      if (!j.steps.empty()) names.insert(j.name);
    }
  }
  for (const std::string& name : names) {
    out.push_back({.name = "step of " + name,
                   .unit = "ns",
                   .decides = true,
                   .values = [name](const RunResult& r) {
                     std::vector<double> values;
                     for (const JobResult& j : r.jobs) {
                       for (const StepResult& s : j.steps) {
                         if (j.name != name || s.time == Duration::Max()) continue;
                         values.push_back(static_cast<double>(s.time.count()));
                       }
                     }
                     return values;
                   }});
  }
}

}  // namespace

std::vector<SizeClass> SizeClassesOf(const std::vector<const RunResult*>& runs) {
  std::set<Bytes> sizes;
  for (const RunResult* r : runs) {
    for (const TransferResult& t : r->transfers) sizes.insert(t.size);
  }
  std::vector<SizeClass> classes;
  if (sizes.size() < 2) return classes;
  if (sizes.size() <= kSizesApart) {
    for (const Bytes size : sizes) classes.push_back({size, size, SizeText(size)});
    return classes;
  }
  Bytes edge{};
  for (const Bytes size : sizes) {
    if (size > edge) {
      edge = Bytes(1);
      while (edge < size) edge = edge * kClassFactor;
      classes.push_back({.low = size});
    }
    classes.back().high = size;
  }
  for (SizeClass& c : classes) {
    c.name = c.low == c.high ? SizeText(c.low) : SizeText(c.low) + " to " + SizeText(c.high);
  }
  return classes;
}

std::vector<Metric> MetricsOf(const std::vector<const RunResult*>& runs) {
  std::vector<Metric> metrics;
  metrics.push_back(OfRun("last completion", "ns", true, true,
                          [](const RunResult& r) { return r.makespan.count(); }));
  AddCompletions({.low = Bytes(0), .high = Bytes::Max()}, metrics);
  metrics.push_back(
      OfRun("goodput", "bps", false, true, [](const RunResult& r) { return r.goodput_bps; }));
  AddSteps(runs, metrics);
  AddCalls(runs, metrics);
  for (const SizeClass& c : SizeClassesOf(runs)) AddCompletions(c, metrics);
  metrics.push_back(
      OfRun("fairness", "", false, false, [](const RunResult& r) { return r.fairness; }));
  metrics.push_back(OfRun("retransmissions", "packets", true, false,
                          [](const RunResult& r) { return r.counters.retransmitted_packets; }));
  if (std::ranges::any_of(runs, [](const RunResult* r) { return r->fabric.has_value(); })) {
    metrics.push_back({.name = "peak queue", .unit = "bytes", .values = QueuePeaks});
  }
  return metrics;
}

}  // namespace weir
