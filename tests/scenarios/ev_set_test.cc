// MRC's entropy values in a fabric: what is bad is replaced, what is not is kept.
#include "lb_policies/ev_set.h"

#include "gtest/gtest.h"
#include "tests/support/bottleneck.h"

namespace weir {
namespace {

enum Counter { kSkipped, kBad, kReplaced };

// Rule (c) of section 16: 32 to 1, whose first windows are trimmed at the last hop by the thousand.
TEST(EvSetScenario, TrimsAtTheLastHopEvictNothing) {
  constexpr uint32_t kSenders = 32;
  NetworkSpec spec{.topology = LeafSpine({.leaves = 2,
                                          .hosts_per_leaf = kSenders,
                                          .spines = 8,
                                          .rate = Gbps(100),
                                          .uplink_rate = Gbps(400),
                                          .delay = DelayFor(Micros(12), Gbps(100), 4)}),
                   .binding = Bind("none", {{"window", 60'000}}, "ev_set"),
                   .switches = {.queue_limit = Bytes(150'000), .trimming = true},
                   .endpoint = {.max_queue = Micros(24)}};
  spec.binding.paths = 256;
  Network net(spec);
  std::vector<TrafficConnection> pairs;
  for (uint32_t h = 0; h < kSenders; ++h) pairs.push_back({h, 2 * kSenders - 1});
  net.Connect(pairs);
  net.WriteAll(Bytes(200'000));
  ASSERT_TRUE(net.RunToEnd(Millis(20)));
  EXPECT_GT(Measured("trimmed", static_cast<double>(net.counters().lost_by_trim)), 1000);
  for (uint32_t f = 0; f < kSenders; ++f) {
    EXPECT_EQ(net.sender(f).lb().counters()[kBad], 0u) << f;
    EXPECT_EQ(net.sender(f).lb().counters()[kReplaced], 0u) << f;
  }
}

}  // namespace
}  // namespace weir
