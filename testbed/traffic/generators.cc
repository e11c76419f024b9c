#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "datapath/api/rng.h"
#include "testbed/traffic/traffic.h"

namespace weir {
namespace {

Traffic Empty(uint32_t hosts, std::string name) {
  Traffic traffic;
  traffic.name = std::move(name);
  traffic.hosts = hosts;
  return traffic;
}

// Adds a connection with one transfer on it, which starts at once.
void AddFlow(Traffic& traffic, uint32_t from, uint32_t to, Bytes size, uint32_t label) {
  const uint32_t connection = static_cast<uint32_t>(traffic.connections.size());
  traffic.connections.push_back({.from = from, .to = to});
  traffic.transfers.push_back({.connection = connection, .size = size, .label = label});
}

}  // namespace

Traffic Permutation(uint32_t hosts, Bytes size, uint64_t seed) {
  Traffic traffic = Empty(hosts, absl::StrFormat("permutation %d x %d B", hosts, size.count()));
  if (hosts < 2) return traffic;
  // Sattolo's shuffle, 1986: a single cycle through all hosts, so that none keeps its own place.
  std::vector<uint32_t> to(hosts);
  std::iota(to.begin(), to.end(), 0u);
  Rng rng(seed);
  for (uint32_t i = hosts - 1; i > 0; --i) std::swap(to[i], to[rng.Below(i)]);
  for (uint32_t h = 0; h < hosts; ++h) AddFlow(traffic, h, to[h], size, h + 1);
  return traffic;
}

Traffic Incast(uint32_t hosts, uint32_t senders, uint32_t receiver, Bytes size, Duration jitter,
               uint64_t seed) {
  Traffic traffic =
      Empty(hosts, absl::StrFormat("incast %d to %d x %d B", senders, receiver, size.count()));
  if (hosts < 2) return traffic;
  // With more senders than other hosts, hosts send several times.
  const uint64_t others = hosts - 1;
  Rng rng(seed);
  for (uint32_t s = 0; s < senders; ++s) {
    const uint32_t other = static_cast<uint32_t>(s * others / senders);
    AddFlow(traffic, other < receiver ? other : other + 1, receiver, size, s + 1);
    traffic.transfers.back().start = Scaled(jitter, rng.Unit());
  }
  return traffic;
}

Traffic AllToAll(uint32_t hosts, Bytes size_per_pair) {
  Traffic traffic =
      Empty(hosts, absl::StrFormat("all-to-all %d x %d B", hosts, size_per_pair.count()));
  for (uint32_t k = 1; k < hosts; ++k) {
    for (uint32_t h = 0; h < hosts; ++h) AddFlow(traffic, h, (h + k) % hosts, size_per_pair, k);
  }
  return traffic;
}

Traffic RingAllReduce(uint32_t hosts, uint32_t ranks, Bytes size) {
  Traffic traffic =
      Empty(hosts, absl::StrFormat("ring all-reduce %d ranks x %d B", ranks, size.count()));
  if (ranks < 2) return traffic;
  for (uint32_t r = 0; r < ranks; ++r) {
    traffic.connections.push_back({.from = r, .to = (r + 1) % ranks});
  }
  // Every chunk is as long as the longest: a real ring pads its last one.
  const Bytes chunk((size.count() + ranks - 1) / ranks);
  const uint32_t steps = 2 * (ranks - 1);
  // Trigger (s - 1) * ranks + r fires when rank r has received step s - 1 and may send step s.
  traffic.triggers.resize(static_cast<size_t>(steps - 1) * ranks);
  for (uint32_t step = 0; step < steps; ++step) {
    for (uint32_t r = 0; r < ranks; ++r) {
      Transfer transfer{.connection = r, .size = chunk, .label = step};
      if (step > 0) transfer.after = (step - 1) * ranks + r;
      if (step + 1 < steps) transfer.on_received = step * ranks + (r + 1) % ranks;
      traffic.transfers.push_back(transfer);
    }
  }
  return traffic;
}

}  // namespace weir
