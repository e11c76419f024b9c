// What of the traffic stays on a path that has become slow.
#pragma once

#include <vector>

#include "tests/support/bottleneck.h"

namespace weir {

inline constexpr uint32_t kSlowPathSpines = 8;

// Six senders on eight links of one leaf, one of which falls to a tenth of its rate. Of the 7.1
// links that are left it is 1.4 %.
inline double ShareOfASlowPath(const char* policy) {
  NetworkSpec spec{.topology = LeafSpine({.leaves = 2,
                                          .hosts_per_leaf = 6,
                                          .spines = kSlowPathSpines,
                                          .rate = Gbps(100),
                                          .delay = DelayFor(Micros(12), Gbps(100), 4)}),
                   .binding = Bind("nscc", {}, policy),
                   .switches = {.queue_limit = Bytes(150'000),
                                .mark_min = Bytes(30'000),
                                .mark_max = Bytes(120'000),
                                .trimming = true},
                   .endpoint = {.max_queue = Micros(24)}};
  spec.binding.paths = 256;
  Network net(spec);
  std::vector<TrafficConnection> pairs;
  for (uint32_t h = 0; h < 6; ++h) pairs.push_back({h, 6 + h});
  net.Connect(pairs);
  net.WriteAll();
  net.RunFor(Micros(300));
  const NodeId leaf = 12;
  const LinkId slow = LinkBetween(net.topology(), leaf, leaf + 2);
  net.world().fabric().SetRate(net.now(), slow, 0.1);
  net.RunFor(Micros(120));  // ten RTTs
  const auto bytes_to = [&](uint32_t spine) {
    const LinkId link = LinkBetween(net.topology(), leaf, leaf + 2 + spine);
    return static_cast<double>(net.world().fabric().port(link).bytes_in);
  };
  double before[kSlowPathSpines];
  for (uint32_t s = 0; s < kSlowPathSpines; ++s) before[s] = bytes_to(s);
  net.RunFor(Micros(120));
  double total = 0;
  for (uint32_t s = 0; s < kSlowPathSpines; ++s) total += bytes_to(s) - before[s];
  return (bytes_to(0) - before[0]) / total;
}

}  // namespace weir
