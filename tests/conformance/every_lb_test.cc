// What every load-balancing policy must do, whatever it decides.
#include <gtest/gtest.h>

#include "datapath/api/spreading.h"
#include "lb_policies/registry.h"
#include "tests/support/no_alloc.h"
#include "tests/support/plugin_checks.h"

namespace weir {
namespace {

constexpr int kPackets = 2000;

// Parameters that matter only while another, of the same policy, has a certain value.
struct Precondition {
  const char* policy;  // nullptr: of all
  const char* param;
  const char* other;
  double value;
};
constexpr Precondition kPreconditions[] = {
    {nullptr, "unit_gap", "unit", static_cast<double>(SpreadUnit::kFlowlet)},
    {nullptr, "unit_split", "unit", static_cast<double>(SpreadUnit::kSplit)},
};

constexpr LbInfo Info(uint32_t paths, uint64_t seed = 1) {
  return {.paths = paths,
          .mtu = Bytes(4096),
          .bdp = Bytes(150'000),
          .base_rtt = Micros(12),
          .seed = seed};
}

class EveryLb : public testing::TestWithParam<const LbEntry*> {
 protected:
  const LbEntry& entry() const { return *GetParam(); }

  // A random history: packets at any spacing, feedback for one packet in two.
  uint64_t Decisions(const LbInfo& info, const ConfigBlob& config, uint64_t seed,
                     bool feedback = true) const {
    LbSlot lb;
    lb.Emplace(entry(), info, config);
    Rng rng(seed);
    Digest digest;
    Time now{1'000'000};
    for (int i = 0; i < kPackets; ++i) {
      now = now + Scaled(info.base_rtt, rng.Chance(0.05) ? 50 * rng.Unit() : 0.01);
      constexpr int kMessage = 20;  // packets
      const bool retransmit = rng.Chance(0.1);
      const PathId path = lb->PickPath({.now = now,
                                        .size = info.mtu,
                                        .in_flight = info.mtu * rng.Below(30),
                                        .window = info.bdp,
                                        .message = static_cast<uint32_t>(i / kMessage),
                                        .message_size = kMessage * info.mtu,
                                        .offset = i % kMessage * info.mtu,
                                        .retransmit = retransmit,
                                        .lost_on = AnyPath(rng, info)});
      EXPECT_LT(path, info.paths);
      digest.Add(path);
      // Half of the news is of the path just taken; one in ten is bad.
      const PathId about = rng.Chance(0.5) ? path : AnyPath(rng, info);
      const PathEvent event =
          rng.Chance(0.9) ? PathEvent::kGood : static_cast<PathEvent>(rng.Below(6));
      const Duration rtt = Scaled(info.base_rtt, 1 + 2 * rng.Unit());
      if (rng.Chance(0.5) && feedback) {
        lb->OnFeedback({.now = now, .path = about, .event = event, .rtt = rtt});
      }
    }
    return digest.value();
  }

  static PathId AnyPath(Rng& rng, const LbInfo& info) {
    return static_cast<PathId>(rng.Below(info.paths));
  }

  uint64_t Behaviour(const ConfigBlob& config, bool feedback = true) const {
    Digest digest;
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      digest.Add(static_cast<int64_t>(Decisions(Info(256, seed), config, seed, feedback)));
    }
    return digest.value();
  }

  // How many of `n` packets, `spacing` apart, leave the path of the one before.
  int Moves(int n, Duration spacing) const {
    LbSlot lb(entry(), Info(256));
    Time now{0};
    PathId last = lb->PickPath({.now = now});
    int moves = 0;
    for (int i = 0; i < n; ++i) {
      now = now + spacing;
      const PathId path = lb->PickPath({.now = now, .size = Bytes(4096)});
      moves += path != last ? 1 : 0;
      last = path;
    }
    return moves;
  }
};

TEST_P(EveryLb, TablesAreComplete) {
  CheckTables(entry());
  EXPECT_LE(entry().state_bytes, kLbSlotBytes);
  EXPECT_EQ(FindLb(entry().name), &entry());
  LbSlot lb(entry(), Info(8));
  EXPECT_EQ(lb->counters().size(), entry().counters.size());
}

TEST_P(EveryLb, HasAParagraph) { CheckParagraph(entry(), "policies.md"); }

TEST_P(EveryLb, PathsStayInRange) {
  for (const uint32_t paths : {1u, 2u, 3u, 8u, 64u, 33'000u, 65'536u}) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      Decisions(Info(paths, seed), entry().defaults(), seed);
    }
    for (const ParamSpec& param : entry().params) {
      for (const double value : {param.min, param.max}) {
        SCOPED_TRACE(testing::Message() << param.name << " = " << value);
        Decisions(Info(paths), With(entry(), param, value), 1);
      }
    }
  }
}

// A run can be replayed.
TEST_P(EveryLb, TheSameSeedGivesTheSamePaths) {
  EXPECT_EQ(Behaviour(entry().defaults()), Behaviour(entry().defaults()));
}

TEST_P(EveryLb, AnotherSeedGivesOtherPaths) {
  EXPECT_NE(Decisions(Info(256, 1), entry().defaults(), 1),
            Decisions(Info(256, 2), entry().defaults(), 1));
}

// The least value may mean "all", as the largest does; then the value after it differs.
TEST_P(EveryLb, EveryParameterChangesSomeDecision) {
  for (const ParamSpec& param : entry().params) {
    const auto behaviour = [&](double value) {
      ConfigBlob config = With(entry(), param, value);
      for (const Precondition& p : kPreconditions) {
        const bool ours = p.policy == nullptr || entry().name == std::string(p.policy);
        if (!ours || param.name != std::string(p.param)) continue;
        for (const ParamSpec& other : entry().params) {
          if (other.name == std::string(p.other)) other.set(config.data(), p.value);
        }
      }
      return Behaviour(config);
    };
    const uint64_t at_max = behaviour(param.max);
    EXPECT_TRUE(behaviour(param.min) != at_max || behaviour(param.min + 1) != at_max)
        << param.name << " does nothing";
  }
}

TEST_P(EveryLb, APolicyThatDoesNotLearnIsNotMovedByFeedback) {
  if (entry().learns) return;
  EXPECT_EQ(Behaviour(entry().defaults(), true), Behaviour(entry().defaults(), false));
}

TEST_P(EveryLb, ReordersAsDeclared) {
  const int close = Moves(1000, Nanos(83));
  const int apart = Moves(1000, Millis(1));
  switch (entry().reordering) {
    case Reordering::kNever:
      EXPECT_EQ(close, 0);
      EXPECT_EQ(apart, 0);
      break;
    case Reordering::kRarely:
      EXPECT_EQ(close, 0);
      EXPECT_GT(apart, 900);
      break;
    case Reordering::kAlways:
      EXPECT_GT(close, 900);
      break;
  }
}

TEST_P(EveryLb, AllocatesNothing) {
  const ConfigBlob config = entry().defaults();
  const NoAlloc allocations;
  Decisions(Info(256), config, 1);
  EXPECT_EQ(allocations.count(), 0);
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryLb, testing::ValuesIn(Pointers(AllLb())),
                         EntryName<LbEntry>);

TEST(LbRegistryTest, NamesAreUniqueAndUnknownOnesAreNotFound) {
  std::set<std::string> names;
  for (const LbEntry& entry : AllLb()) EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
  EXPECT_EQ(FindLb("no such policy"), nullptr);
}

}  // namespace
}  // namespace weir
