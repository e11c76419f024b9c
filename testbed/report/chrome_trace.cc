#include "testbed/report/chrome_trace.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_format.h"
#include "testbed/experiment/report_text.h"

namespace weir {
namespace {

using Json = nlohmann::json;

// Processes of one run: its hosts.
constexpr int kHostsMax = 1'000'000;

double Micros(Duration d) { return static_cast<double>(d.count()) / 1e3; }

Json Name(const char* what, int pid, int tid, const std::string& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", pid}, {"tid", tid}, {"args", {{"name", name}}}};
}

// Gives every slice of a connection a lane in which none overlaps another.
class Lanes {
 public:
  // `start`s do not decrease.
  size_t Take(Duration start, Duration end) {
    for (size_t i = 0; i < busy_until_.size(); ++i) {
      if (busy_until_[i] <= start) {
        busy_until_[i] = end;
        return i;
      }
    }
    busy_until_.push_back(end);
    return busy_until_.size() - 1;
  }

 private:
  std::vector<Duration> busy_until_;
};

class RunTrace {
 public:
  RunTrace(const RunResult& run, int first_pid, Json& events)
      : run_(run), first_pid_(first_pid), events_(events) {}

  void Write() {
    std::vector<const TransferResult*> order;
    for (const TransferResult& t : run_.transfers) {
      if (t.finished()) order.push_back(&t);
    }
    std::ranges::stable_sort(order, {}, &TransferResult::start);
    for (const TransferResult* t : order) Add(*t);
    WriteOperations();
  }

 private:
  // Beside the hosts, a process for collectives: a thread a kind.
  void WriteOperations() {
    const int pid = first_pid_ + kHostsMax - 1;
    std::vector<const OperationResult*> order;
    for (const OperationResult& o : run_.operations) {
      if (o.finished()) order.push_back(&o);
    }
    if (order.empty()) return;
    std::ranges::stable_sort(order, {}, &OperationResult::first_arrival);
    events_.push_back(Name("process_name", pid, 0, run_.arm + ": collectives"));
    std::map<std::string, Lanes> lanes;
    std::map<std::pair<std::string, size_t>, int> threads;
    for (const OperationResult* o : order) {
      const size_t lane = lanes[o->name].Take(o->first_arrival, o->end);
      const auto [thread, fresh] =
          threads.insert({{o->name, lane}, static_cast<int>(threads.size()) + 1});
      if (fresh) events_.push_back(Name("thread_name", pid, thread->second, o->name));
      events_.push_back(
          {{"ph", "X"},
           {"cat", "collective"},
           {"name", o->name + " " + PrettyBytes(static_cast<double>(o->size.count()))},
           {"pid", pid},
           {"tid", thread->second},
           {"ts", Micros(o->first_arrival)},
           {"dur", Micros(o->end - o->first_arrival)},
           {"args",
            {{"bytes", o->size.count()},
             {"ranks", o->ranks},
             {"busbw_Bps", o->bus_bandwidth()},
             {"last_rank", o->last_rank}}}});
    }
  }

  void Add(const TransferResult& t) {
    const int pid = first_pid_ + static_cast<int>(t.from);
    if (hosts_.insert(t.from).second) {
      events_.push_back(
          Name("process_name", pid, 0, absl::StrFormat("%s: host %d", run_.arm, t.from)));
    }
    const size_t lane = lanes_[{t.from, t.to}].Take(t.start, t.sent);
    const auto [thread, fresh] =
        threads_.insert({{t.from, t.to, lane}, static_cast<int>(threads_.size()) + 1});
    if (fresh) {
      events_.push_back(Name("thread_name", pid, thread->second,
                             absl::StrFormat("to host %d%s", t.to,
                                             lane == 0 ? "" : absl::StrFormat(" (%d)", lane + 1))));
    }
    const double took = Micros(t.sent - t.start);
    events_.push_back({{"ph", "X"},
                       {"cat", "transfer"},
                       {"name", PrettyBytes(static_cast<double>(t.size.count()))},
                       {"pid", pid},
                       {"tid", thread->second},
                       {"ts", Micros(t.start)},
                       {"dur", took},
                       {"args",
                        {{"bytes", t.size.count()},
                         {"label", t.label},
                         {"to", t.to},
                         {"slowdown", Ratio(t.sent - t.start, t.ideal)}}}});
  }

  struct Thread {
    uint32_t from;
    uint32_t to;
    size_t lane;
    auto operator<=>(const Thread&) const = default;
  };

  const RunResult& run_;
  int first_pid_;
  Json& events_;
  std::set<uint32_t> hosts_;
  std::map<std::pair<uint32_t, uint32_t>, Lanes> lanes_;
  std::map<Thread, int> threads_;
};

}  // namespace

Json ChromeTrace(const std::vector<RunResult>& results) {
  Json events = Json::array();
  std::set<std::string> arms;
  for (const RunResult& r : results) {
    if (!arms.insert(r.arm).second) continue;
    RunTrace(r, static_cast<int>(arms.size()) * kHostsMax, events).Write();
  }
  return {{"displayTimeUnit", "ns"}, {"traceEvents", events}};
}

}  // namespace weir
