#include "testbed/report/columns.h"

#include "absl/strings/str_format.h"

namespace weir {
namespace {

Cell Count(uint64_t n) { return static_cast<int64_t>(n); }

// Of what a modelled fabric saw; nothing where none took part.
template <auto kOf>
Cell OfFabric(const RunResult& r) {
  if (!r.fabric.has_value()) return std::monostate();
  return kOf(*r.fabric);
}

struct RunColumn {
  const char* name;
  ColumnType type;
  Cell (*of)(const RunResult&);
};

constexpr RunColumn kRun[] = {
    {"arm", ColumnType::kText, [](const RunResult& r) -> Cell { return r.arm; }},
    {"seed", ColumnType::kInteger, [](const RunResult& r) { return Count(r.seed); }},
    {"finished", ColumnType::kInteger, [](const RunResult& r) { return Count(r.finished); }},
    {"transfers", ColumnType::kInteger,
     [](const RunResult& r) { return Count(r.transfers.size()); }},
    {"makespan_ns", ColumnType::kInteger,
     [](const RunResult& r) -> Cell { return r.makespan.count(); }},
    {"ideal_ns", ColumnType::kInteger, [](const RunResult& r) -> Cell { return r.ideal.count(); }},
    {"completion_mean_ns", ColumnType::kReal,
     [](const RunResult& r) -> Cell { return r.completion.mean; }},
    {"completion_median_ns", ColumnType::kReal,
     [](const RunResult& r) -> Cell { return r.completion.median; }},
    {"completion_p99_ns", ColumnType::kReal,
     [](const RunResult& r) -> Cell { return r.completion.p99; }},
    {"completion_max_ns", ColumnType::kReal,
     [](const RunResult& r) -> Cell { return r.completion.max; }},
    {"slowdown_mean", ColumnType::kReal,
     [](const RunResult& r) -> Cell { return r.slowdown.mean; }},
    {"goodput_bps", ColumnType::kReal, [](const RunResult& r) -> Cell { return r.goodput_bps; }},
    {"fairness", ColumnType::kReal, [](const RunResult& r) -> Cell { return r.fairness; }},
    {"link_load_ratio", ColumnType::kReal,
     OfFabric<[](const FabricResult& f) -> Cell { return f.link_load_ratio; }>},
    {"links_used", ColumnType::kInteger,
     OfFabric<[](const FabricResult& f) { return Count(f.links_used); }>},
    {"queue_peak_bytes", ColumnType::kInteger,
     OfFabric<[](const FabricResult& f) -> Cell { return f.queue_peak.count(); }>},
    {"base_rtt_ns", ColumnType::kInteger,
     [](const RunResult& r) -> Cell { return r.base_rtt.count(); }},
    {"bdp_bytes", ColumnType::kInteger, [](const RunResult& r) -> Cell { return r.bdp.count(); }},
    {"data_packets_sent", ColumnType::kInteger,
     [](const RunResult& r) { return Count(r.counters.data_packets_sent); }},
    {"retransmitted_packets", ColumnType::kInteger,
     [](const RunResult& r) { return Count(r.counters.retransmitted_packets); }},
    {"timeouts", ColumnType::kInteger,
     [](const RunResult& r) { return Count(r.counters.timeouts); }},
    {"trims", ColumnType::kInteger,
     OfFabric<[](const FabricResult& f) { return Count(f.stats.trims); }>},
    {"marks", ColumnType::kInteger,
     OfFabric<[](const FabricResult& f) { return Count(f.stats.marks); }>},
    {"dropped", ColumnType::kInteger,
     OfFabric<[](const FabricResult& f) { return Count(f.stats.dropped); }>},
    {"lost_by_fault", ColumnType::kInteger,
     OfFabric<[](const FabricResult& f) { return Count(f.stats.lost_by_fault); }>},
    {"paused_ns", ColumnType::kInteger,
     OfFabric<[](const FabricResult& f) -> Cell { return f.paused.count(); }>},
    {"events", ColumnType::kInteger, [](const RunResult& r) { return Count(r.events); }},
    {"digest", ColumnType::kText,
     [](const RunResult& r) -> Cell {
       if (r.real_time.has_value()) return std::monostate();
       return absl::StrFormat("%016x", r.digest);
     }},
    {"too_busy", ColumnType::kText,
     [](const RunResult& r) -> Cell {
       if (!r.real_time.has_value()) return std::monostate();
       return r.real_time->too_busy;
     }},
};

Cell OrNothing(Duration d) {
  if (d == Duration::Max()) return std::monostate();
  return d.count();
}

}  // namespace

Columns RunColumns() {
  Columns columns{{"run", ColumnType::kInteger}};
  for (const RunColumn& c : kRun) columns.emplace_back(c.name, c.type);
  return columns;
}

Row RunRow(int64_t number, const RunResult& result) {
  Row row{number};
  for (const RunColumn& c : kRun) row.push_back(c.of(result));
  return row;
}

Columns TransferColumns() {
  Columns columns;
  for (const char* name : {"run", "from", "to", "label", "size_bytes", "start_ns", "sent_ns",
                           "received_ns", "ideal_ns"}) {
    columns.emplace_back(name, ColumnType::kInteger);
  }
  return columns;
}

Row TransferRow(int64_t run, const TransferResult& t) {
  return {run,
          int64_t{t.from},
          int64_t{t.to},
          int64_t{t.label},
          t.size.count(),
          OrNothing(t.start),
          OrNothing(t.sent),
          OrNothing(t.received),
          t.ideal.count()};
}

}  // namespace weir
