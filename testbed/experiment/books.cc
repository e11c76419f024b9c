#include "testbed/experiment/books.h"

#include "absl/strings/str_format.h"

namespace weir {

std::vector<std::string> CheckBooks(Home& home, const Traffic& traffic,
                                    const std::vector<WireId>& ids, bool done) {
  std::vector<std::string> breaches;
  if (std::string breach = home.CheckConservation(); !breach.empty()) breaches.push_back(breach);
  if (!done) return breaches;
  for (uint32_t i = 0; i < ids.size(); ++i) {
    const Bytes left = home.InFlight(traffic.connections[i].from, ids[i]);
    if (left == Bytes(0)) continue;
    breaches.push_back(
        absl::StrFormat("connection %d: %d bytes are still in flight", i, left.count()));
  }
  if (home.fabric() == nullptr) return breaches;
  // Marks are counted by switches and by receivers: the same, if nothing marked was lost.
  const FabricStats& f = home.fabric()->stats();
  const uint64_t seen = home.TotalCounters().marks_received;
  const uint64_t lost = f.dropped + f.lost_by_fault + f.unroutable + f.corrupted + home.missed();
  if (seen > f.marks + f.duplicated || seen + lost < f.marks) {
    breaches.push_back(absl::StrFormat("switches marked %d packets, receivers saw %d, %d were lost",
                                       f.marks, seen, lost));
  }
  return breaches;
}

}  // namespace weir
