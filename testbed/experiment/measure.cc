#include "testbed/experiment/measure.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

namespace weir {

void MeasureCompletions(RunResult& result) {
  std::vector<double> completion;
  std::vector<double> slowdown;
  std::vector<double> rates;
  Bytes total{};
  Duration first = Duration::Max();
  Duration last{};
  for (const TransferResult& t : result.transfers) {
    if (!t.finished()) continue;
    const Duration took = t.sent - t.start;
    completion.push_back(static_cast<double>(took.count()));
    slowdown.push_back(Ratio(took, t.ideal));
    rates.push_back(static_cast<double>(t.size.count()) / static_cast<double>(took.count()));
    total += t.size;
    first = std::min(first, t.start);
    last = std::max(last, t.sent);
  }
  result.completion = Summarize(completion);
  result.slowdown = Summarize(slowdown);
  result.fairness = JainIndex(rates);
  if (!result.finished) {
    result.warnings.push_back(
        absl::StrFormat("%d of %d transfers did not finish within the time limit",
                        result.transfers.size() - completion.size(), result.transfers.size()));
  }
  if (completion.empty()) return;
  result.makespan = last - first;
  result.goodput_bps = static_cast<double>((total / result.makespan).count());
}

FabricResult MeasureFabric(const Fabric& fabric) {
  FabricResult result{.stats = fabric.stats()};
  const Topology& topology = fabric.topology();
  struct Load {
    double busiest = 0;
    double sum = 0;
    int links = 0;
  };
  std::map<std::pair<int, int>, Load> tiers;
  for (LinkId id = 0; id < topology.links.size(); ++id) {
    const LinkShape& shape = topology.links[id];
    const PortStats& port = fabric.port(id);
    result.pauses += port.pauses;
    result.paused += port.paused;
    if (topology.IsHost(shape.from)) continue;
    result.queue_peak = std::max(result.queue_peak, port.queue_peak);
    if (topology.IsHost(shape.to)) continue;
    Load& load = tiers[{topology.tier[shape.from], topology.tier[shape.to]}];
    const double share =
        static_cast<double>(port.bytes_out) / static_cast<double>(shape.rate.count());
    load.busiest = std::max(load.busiest, share);
    load.sum += share;
    ++load.links;
    if (port.bytes_out > 0) ++result.links_used;
  }
  for (const auto& [tier, load] : tiers) {
    if (load.sum > 0) {
      result.link_load_ratio =
          std::max(result.link_load_ratio, load.busiest / (load.sum / load.links));
    }
  }
  return result;
}

}  // namespace weir
