// What every congestion-control algorithm must do, whatever it decides.
#define WEIR_DEFINE_NO_ALLOC  // for the whole program

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>

#include "cc_algos/registry.h"
#include "tests/support/cc_driver.h"
#include "tests/support/no_alloc.h"
#include "tests/support/plugin_checks.h"

namespace weir {
namespace {

constexpr int kEvents = 500;

constexpr FlowInfo WithTrimming(FlowInfo flow) {
  flow.trimming = true;
  return flow;
}

// Parameters that act only if another one is set.
struct Precondition {
  const char* algorithm;
  const char* param;
  const char* other;
  double value;
};
constexpr Precondition kPreconditions[] = {
    {"dcqcn", "decrease_period", "nvidia_form", 1},  {"dcqcn", "min_dec_factor", "nvidia_form", 1},
    {"dcqcn", "first_cnp_factor", "nvidia_form", 1}, {"dcqcn", "clamp_target", "nvidia_form", 1},
    {"dcqcn", "hai_fraction", "byte_counter", 1},  // 10 MB are more than one history sends
    {"timely", "hai_factor", "hai_after", 1},      // five RTTs in a row that do not rise are rare
    {"bbr", "rtt_time", "rtt_interval", 1},        // 1000 base RTTs are more than one history
    {"rtt_probe", "hai_factor", "hai_after", 1},   // five probes in a row without a delay are rare
};

class EveryCc : public testing::TestWithParam<const CcEntry*> {
 protected:
  const CcEntry& entry() const { return *GetParam(); }

  // Everything that the algorithm decides during one random history.
  uint64_t Decisions(const FlowInfo& flow, const ConfigBlob& config, uint64_t seed) const {
    CcSlot cc;
    cc.Emplace(entry(), flow, config);
    CcDriver driver(*cc, flow, entry().events);
    Rng rng(seed);
    Digest digest;
    digest.Add(cc->probe_interval().count());
    for (int i = 0; i < kEvents; ++i) {
      driver.RandomEvent(rng);
      const Allowance may = cc->allowance();
      digest.Add(may.window.count());
      digest.Add(may.rate.count());
      digest.Add(may.credit.count());
      digest.Add(cc->CreditWanted(flow.mtu * (i % 100)).count());
      digest.Add(cc->CreditPilesUp({flow.mtu * (i % 100), 2}) ? 1 : 0);
    }
    return digest.value();
  }

  // .. and during one of its receiver half.
  uint64_t Grants(const FlowInfo& flow, const ConfigBlob& config, uint64_t seed) const {
    if (entry().receiver_half == nullptr) return 0;
    const auto scheduler = NewScheduler(flow, config);
    Rng rng(seed);
    Digest digest;
    for (Time now{0}; now < Time(0) + 40 * flow.base_rtt; now = now + flow.base_rtt / 40) {
      if (rng.Chance(0.1)) {
        scheduler->OnDemand(now, rng.Below(8), flow.mtu * rng.Below(100));
      }
      if (rng.Chance(0.5)) {
        scheduler->OnData({.now = now,
                           .flow = rng.Below(8),
                           .size = flow.mtu,
                           .marked = rng.Chance(0.5),
                           .trimmed = rng.Chance(0.2),
                           .piles_up = rng.Chance(0.2)});
      }
      if (rng.Chance(0.02)) scheduler->OnDone(now, rng.Below(8));
      const Grant grant = scheduler->NextGrant(now);
      if (grant.flow != kNoFlow) {
        EXPECT_LT(grant.flow, 8u);
        EXPECT_GT(grant.bytes, Bytes(0));
      }
      EXPECT_GT(grant.again, now);
      digest.Add(grant.flow);
      digest.Add(grant.bytes.count());
    }
    return digest.value();
  }

  std::unique_ptr<CreditScheduler> NewScheduler(const FlowInfo& flow,
                                                const ConfigBlob& config) const {
    const CreditInfo info = {.mtu = flow.mtu,
                             .line_rate = flow.line_rate,
                             .base_rtt = flow.base_rtt,
                             .connections = 8,
                             .seed = 1};
    return std::unique_ptr<CreditScheduler>(entry().receiver_half->create(info, config));
  }

  // All of that, and what it asks of its peer.
  uint64_t Behaviour(const ConfigBlob& config) const {
    Digest digest;
    for (const FlowInfo& flow : {kTestFlow, WithTrimming(kTestFlow)}) {
      const ReceiverDuty duty = entry().duty(flow, config);
      digest.Add(duty.ack_every.count());
      digest.Add(duty.cnp_interval.count());
      digest.Add(duty.scheduler);
      for (uint64_t seed = 1; seed <= 10; ++seed) {
        digest.Add(static_cast<int64_t>(Decisions(flow, config, seed)));
        digest.Add(static_cast<int64_t>(Grants(flow, config, seed)));
      }
    }
    return digest.value();
  }

  void ExpectLegal(const FlowInfo& flow, const ConfigBlob& config, uint64_t seeds) const {
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
      CcSlot cc;
      cc.Emplace(entry(), flow, config);
      ASSERT_TRUE(IsLegal(cc->allowance())) << "before the first event";
      CcDriver driver(*cc, flow, entry().events);
      Rng rng(seed);
      for (int i = 0; i < kEvents; ++i) {
        driver.RandomEvent(rng);
        ASSERT_TRUE(IsLegal(cc->allowance())) << "seed " << seed << ", event " << i;
        ASSERT_GE(cc->CreditWanted(flow.mtu * (i % 50)), Bytes(0)) << "seed " << seed;
      }
      ASSERT_EQ(driver.timer_loops(), 0) << "OnTimer left timer() in the past, seed " << seed;
    }
  }
};

TEST_P(EveryCc, TablesAreComplete) {
  CheckTables(entry());
  EXPECT_LE(entry().state_bytes, kCcSlotBytes);
  EXPECT_EQ(FindCc(entry().name), &entry());
  CcSlot cc(entry(), kTestFlow);
  EXPECT_EQ(cc->counters().size(), entry().counters.size());
}

TEST_P(EveryCc, HasAParagraph) { CheckParagraph(entry(), "algorithms.md"); }

TEST_P(EveryCc, AllowanceStaysLegalUnderAnyLegalEvents) {
  ExpectLegal(kTestFlow, entry().defaults(), 100);
  ExpectLegal(WithTrimming(kTestFlow), entry().defaults(), 100);
}

TEST_P(EveryCc, AllowanceStaysLegalAtEveryScale) {
  for (const Rate rate : {Mbps(10), Gbps(1), Gbps(100), Gbps(800)}) {
    for (const Duration base_rtt : {Micros(1), Micros(12), Millis(1)}) {
      for (const Bytes mtu : {Bytes(64), Bytes(1100), Bytes(4158), Bytes(9216)}) {
        SCOPED_TRACE(testing::Message() << rate.count() << " b/s, " << base_rtt.count() << " ns, "
                                        << mtu.count() << " B");
        const FlowInfo flow = {.mtu = mtu, .line_rate = rate, .base_rtt = base_rtt, .seed = 1};
        ExpectLegal(flow, entry().defaults(), 3);
      }
    }
  }
}

TEST_P(EveryCc, WhyItNeedsOnePathIsInTheDocs) {
  if (entry().one_path_because == nullptr) return;
  std::ifstream file(WEIR_SOURCE_DIR "/docs/algorithms.md");
  std::stringstream text;
  text << file.rdbuf();
  std::string words = text.str();
  std::replace(words.begin(), words.end(), '\n', ' ');
  EXPECT_NE(words.find(entry().one_path_because), std::string::npos) << entry().one_path_because;
}

TEST_P(EveryCc, AllowanceStaysLegalAtTheEndsOfEveryParameter) {
  for (const ParamSpec& param : entry().params) {
    for (const double value : {param.min, param.max}) {
      SCOPED_TRACE(testing::Message() << param.name << " = " << value);
      ExpectLegal(kTestFlow, With(entry(), param, value), 5);
      ExpectLegal(WithTrimming(kTestFlow), With(entry(), param, value), 5);
    }
  }
}

TEST_P(EveryCc, EveryParameterChangesSomeDecision) {
  for (const ParamSpec& param : entry().params) {
    ConfigBlob at_min = With(entry(), param, param.min);
    ConfigBlob at_max = With(entry(), param, param.max);
    for (const Precondition& p : kPreconditions) {
      if (entry().name != std::string(p.algorithm) || param.name != std::string(p.param)) continue;
      for (const ParamSpec& other : entry().params) {
        if (other.name != std::string(p.other)) continue;
        other.set(at_min.data(), p.value);
        other.set(at_max.data(), p.value);
      }
    }
    EXPECT_NE(Behaviour(at_min), Behaviour(at_max)) << param.name << " does nothing";
  }
}

TEST_P(EveryCc, TheSameSeedGivesTheSameDecisions) {
  EXPECT_EQ(Behaviour(entry().defaults()), Behaviour(entry().defaults()));
}

TEST_P(EveryCc, AllocatesNothing) {
  const ConfigBlob config = entry().defaults();
  const NoAlloc sender;
  Decisions(kTestFlow, config, 1);
  EXPECT_EQ(sender.count(), 0);
  if (entry().receiver_half == nullptr) return;
  const auto scheduler = NewScheduler(kTestFlow, config);
  const NoAlloc receiver;
  for (Time now{0}; now < Time(100'000); now = now + Nanos(500)) {
    const auto flow = static_cast<CreditFlow>(now.nanos() / 500 % 8);
    scheduler->OnDemand(now, flow, KiB(32));
    scheduler->OnData({.now = now, .flow = flow, .size = KiB(4), .trimmed = true});
    scheduler->NextGrant(now);
    if (flow == 7) scheduler->OnDone(now, flow);
  }
  EXPECT_EQ(receiver.count(), 0);
}

// An event that is not declared is never delivered, so it must be one that changes nothing.
TEST_P(EveryCc, AnUndeclaredEventChangesNothing) {
  const auto decisions = [&](uint32_t events) {
    Digest digest;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      CcSlot cc(entry(), kTestFlow);
      CcDriver driver(*cc, kTestFlow, events);
      Rng rng(seed);
      for (int i = 0; i < kEvents; ++i) {
        driver.RandomEvent(rng);
        digest.Add(cc->allowance().window.count());
        digest.Add(cc->allowance().rate.count());
        digest.Add(cc->allowance().credit.count());
        EXPECT_TRUE((entry().events & kCcTimer) != 0 || cc->timer() == Time::Never());
      }
    }
    return digest.value();
  };
  EXPECT_EQ(decisions(entry().events), decisions(CcDriver::kAllEvents));
}

TEST_P(EveryCc, AReceiverHalfComesWithTheCreditSignal) {
  const bool credit = entry().receiver_half != nullptr;
  EXPECT_EQ(entry().needs.Has(Signal::kCredit), credit);
  EXPECT_EQ((entry().events & kCcCredit) != 0, credit);
  const ReceiverDuty duty = entry().duty(kTestFlow, entry().defaults());
  EXPECT_EQ(duty.scheduler, credit ? entry().receiver_half->id : 0);
  EXPECT_EQ(duty.cnp_interval > Duration(0), entry().needs.Has(Signal::kCnp));
}

TEST_P(EveryCc, ASnapshotRestoresALegalAllowance) {
  for (const CcEntry& from : AllCc()) {
    SCOPED_TRACE(from.name);
    CcSlot before(from, kTestFlow);
    CcDriver history(*before, kTestFlow, from.events);
    Rng rng(1);
    for (int i = 0; i < kEvents; ++i) history.RandomEvent(rng);
    CcSlot after(entry(), kTestFlow);
    after->Restore(before->snapshot());
    ASSERT_TRUE(IsLegal(after->allowance()));
    CcDriver driver(*after, kTestFlow, entry().events);
    for (int i = 0; i < kEvents; ++i) {
      driver.RandomEvent(rng);
      ASSERT_TRUE(IsLegal(after->allowance()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryCc, testing::ValuesIn(Pointers(AllCc())),
                         EntryName<CcEntry>);

TEST(CcRegistryTest, NamesAreUniqueAndUnknownOnesAreNotFound) {
  std::set<std::string> names;
  for (const CcEntry& entry : AllCc()) EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
  EXPECT_EQ(FindCc("no such algorithm"), nullptr);
}

TEST(CcRegistryTest, OneIdIsOneReceiverHalf) {
  for (const CcEntry& a : AllCc()) {
    for (const CcEntry& b : AllCc()) {
      if (a.receiver_half == nullptr || b.receiver_half == nullptr) continue;
      EXPECT_GT(a.receiver_half->id, 0);
      const bool same_id = a.receiver_half->id == b.receiver_half->id;
      EXPECT_EQ(same_id, a.receiver_half->name == std::string(b.receiver_half->name));
    }
  }
}

TEST(NoAllocTest, AnAllocationIsCounted) {
  const NoAlloc allocations;
  const auto number = std::make_unique<int>(1);
  EXPECT_EQ(allocations.count(), *number);
}

}  // namespace
}  // namespace weir
