// Senders that all look for the best path: do they all go there?
#include "gtest/gtest.h"
#include "tests/support/bottleneck.h"

namespace weir {
namespace {

constexpr uint32_t kSenders = 32;
constexpr uint32_t kSpines = 8;
constexpr Rate kRate = Gbps(100);
constexpr Duration kRtt = Micros(12);

// The coefficient of variation of what the eight uplinks of a leaf carry in one round trip, on
// average over round trips. 32 senders of one 25 Gb/s each load 8 links of 100 Gb/s to 90 %.
double Variation(const char* policy, Params params = {}) {
  const CcEntry none = AckEachPacket("none");
  NetworkSpec spec{.topology = LeafSpine({.leaves = 2,
                                          .hosts_per_leaf = kSenders,
                                          .spines = kSpines,
                                          .rate = kRate,
                                          .delay = DelayFor(kRtt, kRate, 4)}),
                   .binding = Bind(none, {{"window", 300e3}, {"rate", 0.9 * 25e9}}, policy, params),
                   .endpoint = {.max_queue = Millis(1)}};
  spec.binding.paths = 64;
  Network net(spec);
  std::vector<TrafficConnection> pairs;
  for (uint32_t h = 0; h < kSenders; ++h) pairs.push_back({h, kSenders + h});
  net.Connect(pairs);
  net.WriteAll();
  net.RunFor(20 * kRtt);
  constexpr int kRounds = 40;
  double sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    double before[kSpines];
    const auto bytes = [&](uint32_t s) {
      const LinkId link = LinkBetween(net.topology(), 2 * kSenders, 2 * kSenders + 2 + s);
      return static_cast<double>(net.world().fabric().port(link).bytes_in);
    };
    for (uint32_t s = 0; s < kSpines; ++s) before[s] = bytes(s);
    net.RunFor(kRtt);
    double mean = 0;
    double square = 0;
    for (uint32_t s = 0; s < kSpines; ++s) {
      const double load = bytes(s) - before[s];
      mean += load / kSpines;
      square += load * load / kSpines;
    }
    sum += std::sqrt(square - mean * mean) / mean;
  }
  return sum / kRounds;
}

// Section 14, herding. Without a margin, two choices that are a round trip old herd: 0.23, against
// 0.17 for random ones.
TEST(HerdingScenario, WhoLooksSpreadsMoreEvenlyThanChance) {
  const double random = Measured("random", Variation("random"));
  EXPECT_LT(Measured("power_of_two", Variation("power_of_two")), random);
  EXPECT_LT(Measured("weighted", Variation("weighted")), random);
  EXPECT_GT(Measured("no_margin", Variation("power_of_two", {{"margin", 1}})), random);
}

}  // namespace
}  // namespace weir
