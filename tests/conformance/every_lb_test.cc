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
    // The histories here have few marks: every round must count as congested to be counted at all.
    {"plb", "idle_rounds", "congested_share", 0},
    {"plb", "rounds", "congested_share", 0},
    {"plb", "suspend", "congested_share", 0},
    {"ev_set", "denied_first", "denied", 100},
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

  // A random history: packets at any spacing, of messages longer and shorter than a BDP; feedback
  // for one packet in two, some of it in bursts; half of the probes of bad paths come back.
  uint64_t Decisions(LbInfo info, const ConfigBlob& config, uint64_t seed,
                     bool feedback = true) const {
    PathHealth health(info.paths, 2 * info.base_rtt);
    info.health = &health;
    LbSlot lb;
    lb.Emplace(entry(), info, config);
    Rng rng(seed);
    Digest digest;
    Time now{1'000'000};
    for (int i = 0; i < kPackets; ++i) {
      now = now + Scaled(info.base_rtt, rng.Chance(0.05) ? 50 * rng.Unit() : 0.01);
      constexpr int kLong = 50;  // packets
      constexpr int kBoth = 60;
      const int place = i % kBoth;
      const bool is_long = place < kLong;
      const bool retransmit = rng.Chance(0.1);
      const PathId path =
          lb->PickPath({.now = now,
                        .size = info.mtu,
                        .in_flight = info.mtu * rng.Below(30),
                        .window = info.bdp,
                        .message = static_cast<uint32_t>(i / kBoth * 2 + !is_long),
                        .message_size = (is_long ? kLong : kBoth - kLong) * info.mtu,
                        .offset = (is_long ? place : place - kLong) * info.mtu,
                        .retransmit = retransmit,
                        .lost_on = AnyPath(rng, info)});
      EXPECT_LT(path, info.paths);
      digest.Add(path);
      for (uint32_t n = rng.Chance(0.05) ? 8 : rng.Below(2); n > 0; --n) {
        // Half of the news is of the path just taken; one in ten is bad.
        const PathId about = rng.Chance(0.5) ? path : AnyPath(rng, info);
        const PathEvent event =
            rng.Chance(0.9) ? PathEvent::kGood : static_cast<PathEvent>(rng.Below(6));
        const Duration rtt = Scaled(info.base_rtt, 1 + 2 * rng.Unit());
        const PathFeedback told{.now = now, .path = about, .event = event, .rtt = rtt};
        health.OnFeedback(told);
        if (feedback) lb->OnFeedback(told);
      }
      for (PathId probed = 0; health.Next(now, probed);) {
        if (rng.Chance(0.5)) health.OnProbeAnswer(now, probed);
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

  // How many of `n` packets, `spacing` apart, leave the path of the one before: of one long
  // message, or of one message each.
  int Moves(int n, Duration spacing, bool messages) const {
    LbSlot lb(entry(), Info(256));
    Time now{0};
    PathId last = lb->PickPath({.now = now, .message_size = MiB(64)});
    int moves = 0;
    for (int i = 1; i <= n; ++i) {
      now = now + spacing;
      const PathId path = lb->PickPath({.now = now,
                                        .size = Bytes(4096),
                                        .message = messages ? static_cast<uint32_t>(i) : 0,
                                        .message_size = messages ? Bytes(4096) : MiB(64),
                                        .offset = messages ? Bytes(0) : i * Bytes(4096)});
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

// Except for a path that was given.
TEST_P(EveryLb, AnotherSeedGivesOtherPaths) {
  if (entry().name == std::string("pinned")) return;
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
  const int close = Moves(1000, Nanos(83), false);
  const int apart = Moves(1000, Millis(1), true);
  switch (ReorderingOf(entry(), entry().defaults())) {
    case Reordering::kNever:
      EXPECT_EQ(close, 0);
      EXPECT_EQ(apart, 0);
      break;
    case Reordering::kRarely:
      EXPECT_EQ(close, 0);
      // A policy that learns may wait for a reason to move.
      if (!entry().learns) {
        EXPECT_GT(apart, 900);
      }
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
