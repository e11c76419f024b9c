// What stays together on one path, with a policy below that never chooses the same path twice.
#include "datapath/api/spreading.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

class Counting final : public LoadBalancer {
 public:
  struct Config {
    int64_t first = 0;
  };
  static constexpr ParamSpec kParams[] = {
      Param<&Config::first>("first", 0, 100, "the first path", "a test")};

  Counting(const LbInfo&, const Config& config) : next_(static_cast<PathId>(config.first)) {}
  PathId PickPath(const TxContext&) override { return next_++; }

 private:
  PathId next_;
};

constexpr LbInfo kInfo{.paths = 100, .base_rtt = Micros(12)};

Spread<Counting> By(SpreadUnit unit) {
  return {kInfo, {.spread = {.unit = unit, .unit_split = KiB(8)}, .own = {}}};
}
constexpr TxContext Packet(uint32_t message, int64_t kib = 0, int64_t micros = 0) {
  return {.now = Time(1000 * micros), .message = message, .offset = KiB(kib)};
}

TEST(SpreadTest, APacketIsAUnitUnlessAskedOtherwise) {
  auto lb = By(SpreadUnit::kPacket);
  EXPECT_EQ(lb.PickPath(Packet(7)), 0);
  EXPECT_EQ(lb.PickPath(Packet(7)), 1);
}

TEST(SpreadTest, AMessageStaysTogether) {
  auto lb = By(SpreadUnit::kMessage);
  EXPECT_EQ(lb.PickPath(Packet(7, 0)), 0);
  EXPECT_EQ(lb.PickPath(Packet(7, 64)), 0);
  EXPECT_EQ(lb.PickPath(Packet(8, 0)), 1);
}

TEST(SpreadTest, AMessageIsSplitAtMultiplesOfTheSplit) {
  auto lb = By(SpreadUnit::kSplit);
  EXPECT_EQ(lb.PickPath(Packet(7, 0)), 0);
  EXPECT_EQ(lb.PickPath(Packet(7, 4)), 0);
  EXPECT_EQ(lb.PickPath(Packet(7, 8)), 1);
  EXPECT_EQ(lb.PickPath(Packet(8, 8)), 2);
}

TEST(SpreadTest, AFlowletEndsWithAPauseOfMoreThanABaseRtt) {
  auto lb = By(SpreadUnit::kFlowlet);
  EXPECT_EQ(lb.PickPath(Packet(7, 0, 0)), 0);
  EXPECT_EQ(lb.PickPath(Packet(8, 0, 12)), 0);
  EXPECT_EQ(lb.PickPath(Packet(8, 4, 25)), 1);
}

TEST(SpreadTest, WhatIsSentAgainIsAUnitOfItsOwn) {
  auto lb = By(SpreadUnit::kMessage);
  EXPECT_EQ(lb.PickPath(Packet(7, 0)), 0);
  TxContext again = Packet(7, 0);
  again.retransmit = true;
  EXPECT_EQ(lb.PickPath(again), 1);
  EXPECT_EQ(lb.PickPath(Packet(7, 4)), 0);
}

TEST(SpreadTest, ATimeoutOnThePresentPathEndsTheUnit) {
  auto lb = By(SpreadUnit::kMessage);
  EXPECT_EQ(lb.PickPath(Packet(7, 0)), 0);
  lb.OnFeedback({.path = 5, .event = PathEvent::kTimeout});
  EXPECT_EQ(lb.PickPath(Packet(7, 4)), 0);
  lb.OnFeedback({.path = 0, .event = PathEvent::kTimeout});
  EXPECT_EQ(lb.PickPath(Packet(7, 8)), 1);
}

}  // namespace
}  // namespace weir
