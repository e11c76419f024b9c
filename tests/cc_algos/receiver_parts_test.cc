// What receiver-driven algorithms share.
#include <gtest/gtest.h>

#include "cc_algos/credit_sender.h"
#include "cc_algos/grant_pacer.h"
#include "cc_algos/outstanding.h"
#include "cc_algos/sender_rings.h"

namespace weir {
namespace {

TEST(SenderRingsTest, SendersTakeTurnsAndJoinAtTheEnd) {
  SenderRings<2> rings(8);
  for (const CreditFlow flow : {5u, 2u, 7u}) rings.Put(flow, 0);
  EXPECT_EQ(rings.TakeTurn(0), 5u);
  rings.Put(1, 0);  // behind 5, who has just been served
  for (const CreditFlow flow : {2u, 7u, 5u, 1u, 2u}) EXPECT_EQ(rings.TakeTurn(0), flow);
}

TEST(SenderRingsTest, ARingLosesWhoGoesElsewhere) {
  SenderRings<2> rings(8);
  for (const CreditFlow flow : {0u, 1u, 2u}) rings.Put(flow, 0);
  rings.Put(0, 1);
  rings.Put(2, 2);  // out
  EXPECT_EQ(rings.first(0), 1u);
  EXPECT_EQ(rings.next(1), 1u);
  EXPECT_EQ(rings.first(1), 0u);
  rings.Put(1, 1);
  EXPECT_EQ(rings.first(0), kNoFlow);
  EXPECT_EQ(rings.ring(2), SenderRings<2>::kOut);
}

TEST(SenderRingsTest, WhoStaysKeepsItsPlace) {
  SenderRings<2> rings(8);
  for (const CreditFlow flow : {0u, 1u}) rings.Put(flow, 0);
  rings.Put(0, 0);
  EXPECT_EQ(rings.first(0), 0u);
}

// 1000 bytes at 3 Gb/s take 2666.67 ns: three of them exactly 8000.
TEST(GrantPacerTest, TimesAreRoundedUpAndSumsAreNot) {
  GrantPacer pacer(Gbps(3), Bytes(1000));
  for (const int64_t free_at : {2667, 5334, 8000}) {
    pacer.Book(std::max(pacer.free_at(), Time(0)), Bytes(1000));
    EXPECT_EQ(pacer.free_at(), Time(free_at));
  }
}

TEST(GrantPacerTest, WhoComesLateMakesUpForOneQuantum) {
  GrantPacer pacer(Gbps(8), Bytes(1000));
  pacer.Book(Time(0), Bytes(1000));
  pacer.Book(Time(2000), Bytes(1000));  // 1000 late: made up for
  EXPECT_EQ(pacer.free_at(), Time(2000));
  pacer.Book(Time(3001), Bytes(1000));  // 1001 late: begins anew
  EXPECT_EQ(pacer.free_at(), Time(4001));
}

TEST(OutstandingTest, WhatArrivesIsNoLongerOutstanding) {
  Outstanding o;
  EXPECT_EQ(o.Arrive(Time(0), Bytes(100)), Bytes(0));
  o.Grant(Time(0), Bytes(150));
  EXPECT_EQ(o.Arrive(Time(1), Bytes(100)), Bytes(100));
  EXPECT_EQ(o.Arrive(Time(1), Bytes(100)), Bytes(50));
  EXPECT_EQ(o.bytes(), Bytes(0));
}

TEST(OutstandingTest, UnscheduledDataTakesNothingAway) {
  Outstanding o;
  o.MayBegin(Time(0), Nanos(20), Bytes(150));
  o.Grant(Time(0), Bytes(100));
  EXPECT_EQ(o.Arrive(Time(1), Bytes(100)), Bytes(0));
  EXPECT_EQ(o.Arrive(Time(2), Bytes(100)), Bytes(50));
  o.MayBegin(Time(100), Nanos(20), Bytes(150));  // something is outstanding: no new beginning
  EXPECT_EQ(o.Arrive(Time(100), Bytes(50)), Bytes(50));
  o.MayBegin(Time(119), Nanos(20), Bytes(150));  // no pause
  o.Grant(Time(119), Bytes(10));
  EXPECT_EQ(o.Arrive(Time(119), Bytes(10)), Bytes(10));
  o.MayBegin(Time(139), Nanos(20), Bytes(150));
  o.Grant(Time(139), Bytes(10));
  EXPECT_EQ(o.Arrive(Time(139), Bytes(10)), Bytes(0));
}

TEST(OutstandingTest, SilenceCountsFromTheLastArrivalOrTheFirstGrant) {
  Outstanding o;
  EXPECT_EQ(o.due(Nanos(10)), Time::Never());
  o.Grant(Time(100), Bytes(5));
  o.Grant(Time(105), Bytes(5));
  EXPECT_EQ(o.due(Nanos(10)), Time(110));
  o.Arrive(Time(107), Bytes(1));
  EXPECT_EQ(o.due(Nanos(10)), Time(117));
  EXPECT_EQ(o.WriteOff(), Bytes(9));
  EXPECT_EQ(o.due(Nanos(10)), Time::Never());
}

}  // namespace
}  // namespace weir
