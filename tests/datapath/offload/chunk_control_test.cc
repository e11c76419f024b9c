// The RDMA mode over a model of queue pairs: what algorithms and policies do there.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/chunk_rig.h"

namespace weir {
namespace {

constexpr uint32_t kMessage = 1 << 20;

// Keeps the connection busy with messages for `time`.
void KeepBusy(ChunkRig& rig, Duration time) {
  const Time end = rig.model.now() + time;
  rig.Run([&] {
    while (rig.a().messages_used() < 4) rig.Write(kMessage);
    return rig.model.now() >= end || rig.Ended(0);
  });
}

Duration MeanQueue(const ChunkRig& rig, Time from) {
  Duration sum{};
  int64_t n = 0;
  for (const auto& p : rig.model.posted(0)) {
    if (p.at < from) continue;
    sum += p.queue;
    ++n;
  }
  return n == 0 ? Duration(0) : sum / n;
}

double RateSince(const ChunkRig& rig, Time from) {
  Bytes sum{};
  for (const auto& p : rig.model.posted(0)) {
    if (p.at >= from) sum += p.size;
  }
  return static_cast<double>((sum / (rig.model.now() - from)).count()) / 1e9;
}

// Four paths of 25 Gb/s, and an algorithm with a window alone.
TEST(ChunkControlTest, NoMoreThanAGivenLineRateIsHandedOver) {
  Binding binding = ChunkBinding("none", "round_robin");
  for (const auto& [given, least, most] :
       {std::tuple(Gbps(5), 4.9, 5.1), std::tuple(Gbps(10), 9.8, 10.2)}) {
    ChunkRig rig(binding, {.line_rate = Gbps(25), .path_rate = Gbps(25), .delay = Micros(2)},
                 {.line_rate = given});
    rig.Open();
    KeepBusy(rig, Millis(2));
    const Time from = rig.model.now();
    KeepBusy(rig, Millis(10));
    EXPECT_GT(RateSince(rig, from), least);
    EXPECT_LT(RateSince(rig, from), most);
  }
}

// Eight connections share four paths of 25 Gb/s, each with a window of four BDPs or by the RTT.
TEST(ChunkControlTest, AlgorithmsThatFollowTheRttKeepQueuesShort) {
  const auto queue_of = [](const Binding& binding) {
    ChunkRig rig(binding, {.line_rate = Gbps(25), .path_rate = Gbps(25), .delay = Micros(20)});
    std::vector<WireId> ids;
    for (int i = 0; i < 8; ++i) {
      rig.Open();
      ids.push_back(rig.id);
    }
    const auto keep_busy = [&](Duration time) {
      const Time end = rig.model.now() + time;
      rig.Run(
          [&] {
            for (const WireId id : ids) {
              while (rig.a().Find(id)->waiting() < 2) {
                rig.id = id;
                rig.Write(kMessage);
              }
            }
            return rig.model.now() >= end;
          },
          time);
    };
    keep_busy(Millis(10));
    const Time from = rig.model.now();
    keep_busy(Millis(10));
    EXPECT_GT(RateSince(rig, from), 90);
    return MeanQueue(rig, from);
  };
  Binding fixed = ChunkBinding("none", "round_robin");
  const double chunk = 64 * 1024 + 16 * 62;
  const double bdp = 25e9 / 8 * 40e-6 + chunk;
  for (const ParamSpec& p : fixed.cc->params) {
    if (std::string(p.name) == "window") p.set(fixed.cc_config.data(), 4 * bdp);
  }
  const Duration standing = queue_of(fixed);
  EXPECT_GT(standing, Micros(300));  // 8 x 11 chunks over 4 paths, 21 us each, less the distance
  for (const char* cc : {"swift", "mswift", "falcon", "bbr"}) {
    SCOPED_TRACE(cc);
    EXPECT_LT(queue_of(ChunkBinding(cc, "round_robin")), standing / 2);
  }
}

// The target of swift is a delay, whatever the speed: with flow scaling off the RTT stays at it.
TEST(ChunkControlTest, SwiftHoldsTheRttAtItsTarget) {
  Binding binding = ChunkBinding("swift", "round_robin", 1);
  for (const ParamSpec& p : binding.cc->params) {
    if (std::string(p.name) == "base_target") p.set(binding.cc_config.data(), 200e3);
    if (std::string(p.name) == "fs_range") p.set(binding.cc_config.data(), 1);
  }
  ChunkRig rig(binding, {.path_rate = Gbps(10)});
  rig.Open();
  KeepBusy(rig, Millis(20));
  const Time from = rig.model.now();
  KeepBusy(rig, Millis(20));
  // 200 us: 53 us of a chunk's own and 4 us of distance leave 143 us of queue; the sawtooth is of a
  // chunk's size.
  EXPECT_NEAR(static_cast<double>(MeanQueue(rig, from).count()), 143e3, 53e3);
  EXPECT_GT(RateSince(rig, from), 9.5);
}

// A path that becomes ten times slower takes a chunk in sixteen, when both draws fall on it, and
// some more whenever what is known of it has aged.
TEST(ChunkControlTest, APolicyThatLearnsFromRttsLeavesAPathThatBecomesSlow) {
  ChunkRig rig(ChunkBinding("none", "power_of_two"), {.path_rate = Gbps(50), .delay = Micros(20)});
  rig.Open();
  KeepBusy(rig, Millis(5));
  const Time slow = rig.model.now();
  rig.model.SetRate(2, Gbps(5));
  KeepBusy(rig, Millis(20));
  std::array<int, 4> before{}, after{};
  int all_before = 0, all_after = 0;
  for (const auto& p : rig.model.posted(0)) {
    ++(p.at < slow ? before : after)[p.path];
    ++(p.at < slow ? all_before : all_after);
  }
  EXPECT_GT(before[2], all_before / 5);
  EXPECT_LT(after[2], all_after / 8);
  for (const size_t other : {0u, 1u, 3u}) EXPECT_GT(after[other], all_after / 5);
}

TEST(ChunkControlTest, EveryAlgorithmAndPolicyRunsOrIsRefusedByName) {
  int ran = 0, refused = 0;
  const auto check = [&](const Binding& binding) {
    SCOPED_TRACE(std::string(binding.cc->name) + " over " + binding.lb->name);
    const Signals supplied = Signal::kRtt;
    const Signals missing = (binding.cc->needs | binding.lb->needs).Without(supplied);
    if (binding.mismatch() != nullptr || !missing.empty()) {
      ChunkRig rig(ChunkBinding("swift", "ecmp"));
      const auto id = rig.a().Connect(Time{}, {}, binding);
      ASSERT_FALSE(id.ok());
      const std::string text(id.status().message());
      EXPECT_NE(text.find(binding.cc->name), std::string::npos) << text;
      for (const Signal s : kAllSignals) {
        if (!missing.Has(s)) continue;
        EXPECT_NE(text.find(Name(s)), std::string::npos) << text;
      }
      ++refused;
      return;
    }
    ChunkRig rig(binding, {.path_rate = Gbps(25)});
    rig.Open();
    for (int i = 0; i < 4; ++i) rig.Write(kMessage);
    rig.Run([&] { return rig.Count(0, Event::kSent) == 4 || rig.Ended(0); }, Seconds(4));
    EXPECT_EQ(rig.Count(1, Event::kReceived), 4);
    ASSERT_TRUE(rig.a().Close(rig.model.now(), rig.id).ok());
    rig.Run([&] { return rig.Ended(0) && rig.Ended(1); });
    EXPECT_EQ(rig.Count(0, Event::kClosed), 1);
    EXPECT_EQ(rig.Count(1, Event::kClosed), 1);
    ++ran;
  };
  for (const CcEntry& cc : AllCc()) {
    check(ChunkBinding(cc, cc.one_path_because ? *FindLb("ecmp") : *FindLb("oblivious"), 8));
  }
  for (const LbEntry& lb : AllLb()) check(ChunkBinding(*FindCc("swift"), lb, 8));
  EXPECT_GT(ran, 15);
  EXPECT_GT(refused, 10);
}

TEST(ChunkControlTest, ProbesGoWithTheDataAndAreAnsweredByTheDevice) {
  ChunkRig rig(ChunkBinding("rtt_probe", "ecmp"), {.path_rate = Gbps(25)});
  rig.Open();
  KeepBusy(rig, Millis(5));
  EXPECT_GT(rig.a().counters().probes_sent, 0u);
  const auto counters = rig.sender().cc().counters();
  EXPECT_GT(counters[0], 0u);
}

}  // namespace
}  // namespace weir
