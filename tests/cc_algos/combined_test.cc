#include "cc_algos/combined.h"

#include <gtest/gtest.h>

#include <string>

#include "cc_algos/nscc.h"
#include "cc_algos/rccc.h"
#include "cc_algos/registry.h"
#include "tests/support/cc_driver.h"

namespace weir {
namespace {

using Both = Combined<Nscc, Rccc>;
constexpr Bytes kMtu{4096};

TEST(CombinedTest, TheTighterLimitHolds) {
  Both cc(kTestFlow, {.a = {.max_cwnd = Bytes(100'000)}, .b = {}});
  EXPECT_EQ(cc.allowance().window, Bytes(100'000));  // nscc
  EXPECT_EQ(cc.allowance().credit, Bytes(150'000));  // rccc
  Both other(kTestFlow, {.a = {}, .b = {.max_window = 1.0}});
  EXPECT_EQ(other.allowance().window, Bytes(150'000));  // rccc; nscc allows 225 kB
}

TEST(CombinedTest, BothHalvesHearEachEvent) {
  Both cc(kTestFlow, {});
  CcDriver driver(cc);
  driver.Send(2 * kMtu);
  driver.Lose(kMtu, LossCause::kOrder);
  EXPECT_EQ(cc.allowance().window, Bytes(225'000) - kMtu);  // nscc took the lost bytes
  EXPECT_EQ(cc.allowance().credit, Bytes(0));               // rccc stopped speculating
}

TEST(CombinedTest, NoMoreCreditIsWantedThanTheWindowCanUse) {
  Both cc(kTestFlow, {.a = {.max_cwnd = Bytes(50'000)}, .b = {}});
  cc.OnCredit(Time(0), Bytes(10'000));
  EXPECT_EQ(cc.CreditWanted(MiB(1)), Bytes(50'000) + kMtu - Bytes(10'000));
  EXPECT_EQ(cc.CreditWanted(Bytes(20'000)), Bytes(10'000));
}

TEST(CombinedTest, ParametersReachTheirHalf) {
  const CcEntry& entry = *FindCc("nscc+rccc");
  ConfigBlob blob = entry.defaults();
  ASSERT_EQ(entry.params.size(), std::size(Nscc::kParams) + std::size(Rccc::kParams));
  for (const ParamSpec& param : entry.params) {
    if (param.name == std::string("max_cwnd")) param.set(blob.data(), 60'000);
    if (param.name == std::string("speculative_window")) param.set(blob.data(), 0.5);
  }
  CcSlot cc;
  cc.Emplace(entry, kTestFlow, blob);
  EXPECT_EQ(cc->allowance().window, Bytes(60'000));
  EXPECT_EQ(cc->allowance().credit, Bytes(75'000));
}

TEST(CombinedTest, ItsReceiverHalfIsThatOfRcccWithItsOwnParameters) {
  const CcEntry& entry = *FindCc("nscc+rccc");
  ASSERT_NE(entry.receiver_half, nullptr);
  EXPECT_EQ(entry.receiver_half->id, Rccc::kReceiverHalf.id);
  const CreditInfo info = {
      .mtu = kMtu, .line_rate = Gbps(100), .base_rtt = Micros(12), .connections = 1};
  Both::Config config;
  config.b.quantum = KiB(8);
  CreditScheduler* scheduler = entry.receiver_half->create(info, ConfigBlob::Of(config));
  scheduler->OnDemand(Time(0), 0, KiB(64));
  EXPECT_EQ(scheduler->NextGrant(Time(0)).bytes, KiB(8));
  delete scheduler;
}

TEST(CombinedTest, CountersOfBothHalvesFollowEachOther) {
  Both cc(kTestFlow, {});
  cc.OnCredit(Time(0), Bytes(0));  // drops 150 kB of speculative credit
  const auto counters = cc.counters();
  ASSERT_EQ(counters.size(), Both::kCounters.size());
  EXPECT_EQ(counters[std::size(Nscc::kCounters)], 150'000u);
}

}  // namespace
}  // namespace weir
