#include "datapath/credit_ledger.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

constexpr Duration kBaseRtt = Micros(10);

TEST(CreditLedgerTest, WhatIsAskedForIsWhatWasNotGranted) {
  CreditLedger ledger;
  EXPECT_EQ(ledger.Ask(Time(0), 20), Bytes(20 * kCreditUnit));
  ledger.Grant(Bytes(5 * kCreditUnit));
  EXPECT_EQ(ledger.Ask(Time(0), 20), Bytes(15 * kCreditUnit));
  ledger.Grant(Bytes(20 * kCreditUnit));  // more than was asked for
  EXPECT_EQ(ledger.Ask(Time(0), 20), Bytes(0));
}

// Three grants of half a unit are two units, not three.
TEST(CreditLedgerTest, GrantsAreRoundedOnceAndNotEach) {
  CreditLedger ledger;
  for (int i = 0; i < 3; ++i) ledger.Grant(Bytes(kCreditUnit / 2));
  EXPECT_EQ(ledger.granted(), 2u);
}

TEST(CreditLedgerTest, BothSumsWrap) {
  CreditLedger ledger;
  ledger.Grant(Bytes((int64_t{1} << 32) * kCreditUnit - 2 * kCreditUnit));
  EXPECT_EQ(ledger.granted(), 0xFFFF'FFFEu);
  EXPECT_EQ(ledger.Ask(Time(0), 3), Bytes(5 * kCreditUnit));
}

// Until its sender can have heard of it, and then no longer, a trimmed packet is asked for as well.
TEST(CreditLedgerTest, ATrimmedPacketIsAskedForWhileItsSenderCannotKnow) {
  CreditLedger ledger;
  ledger.Trimmed(Time(1000), Bytes(4 * kCreditUnit - 1), kBaseRtt);  // rounded up
  EXPECT_EQ(ledger.Ask(Time(1000), 10), Bytes(14 * kCreditUnit));
  ledger.Grant(Bytes(14 * kCreditUnit));
  // It was granted: old demand that arrives now asks for nothing twice.
  EXPECT_EQ(ledger.Ask(Time(1001), 10), Bytes(0));
  EXPECT_EQ(ledger.Ask(Time(1000) + kBaseRtt - Duration(1), 11), Bytes(kCreditUnit));
  // From here on the sender asks for it itself.
  EXPECT_EQ(ledger.Ask(Time(1000) + kBaseRtt, 14), Bytes(0));
  EXPECT_EQ(ledger.Ask(Time(1000) + kBaseRtt, 16), Bytes(2 * kCreditUnit));
}

TEST(CreditLedgerTest, TheTimeRunsFromTheFirstTrimmedPacket) {
  CreditLedger ledger;
  ledger.Trimmed(Time(0), Bytes(kCreditUnit), kBaseRtt);
  ledger.Trimmed(Time(0) + kBaseRtt / 2, Bytes(kCreditUnit), kBaseRtt);
  EXPECT_EQ(ledger.Ask(Time(0) + kBaseRtt / 2, 0), Bytes(2 * kCreditUnit));
  EXPECT_EQ(ledger.Ask(Time(0) + kBaseRtt, 0), Bytes(0));
  ledger.Trimmed(Time(0) + kBaseRtt, Bytes(kCreditUnit), kBaseRtt);  // a new one
  EXPECT_EQ(ledger.Ask(Time(0) + kBaseRtt, 0), Bytes(kCreditUnit));
}

}  // namespace
}  // namespace weir
