#include "datapath/receiver.h"

#include <vector>

#include "datapath/api/rng.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

constexpr Duration kDelay = Micros(10);
constexpr uint32_t kReach = Receiver::kWindow - 64;  // packets ahead that are accepted

// A receive half that is fed single packets of one large write.
class ReceiverTest : public testing::Test {
 protected:
  ReceiverTest() { shared_.regions.resize(1); }

  void Open(Psn first, ReceiverDuty duty = {}) {
    shared_.regions[0] = {.size = uint64_t{1} << 40, .open = true};
    receiver_.Open({.id = {7}, .first_psn = first, .duty = duty, .ack_delay = kDelay});
  }
  // A packet of 1000 bytes arrives at now_.
  Cause Data(Psn psn, bool marked = false, uint8_t flags = 0, uint8_t attempt = 0) {
    DataHeader h{.flags = static_cast<uint8_t>(flags | DataHeader::kWrite),
                 .payload = 1000,
                 .psn = psn,
                 .attempt = attempt,
                 .length = 1'000'000};
    FrameInfo info;
    info.marked = marked;
    return receiver_.HandleData(now_, now_, h, info, std::span<const std::byte>(nullptr_, 1000));
  }
  AckHeader Ack(Duration later = Duration(0)) {
    AckHeader ack;
    receiver_.PollAck(now_ + later, ack);
    return ack;
  }
  static bool Reports(const AckHeader& ack, Psn psn) { return Bit(ack, ack.arrived, psn); }
  static bool ReportsMark(const AckHeader& ack, Psn psn) { return Bit(ack, ack.marked, psn); }
  static bool Bit(const AckHeader& ack, const std::array<uint64_t, kSackWords>& words, Psn psn) {
    const int32_t at = Distance(ack.base, psn);
    return at >= 0 && at < 64 * ack.words && (words[at / 64] >> at % 64 & 1) != 0;
  }
  Counters& counters() { return shared_.counters; }

  SharedState shared_{16, 16, 64};
  Receiver receiver_{shared_};
  Time now_ = Time(0) + Micros(100);
  const std::byte* nullptr_ = nullptr;
};

// A port that was not polled for long cannot say when a packet came: its hold is not known.
TEST_F(ReceiverTest, WhatCameAtAnUnknownTimeIsAcknowledgedWithoutAnEcho) {
  Open(Psn(64));
  DataHeader h{.flags = DataHeader::kWrite, .payload = 1000, .psn = Psn(64), .length = 1'000'000};
  const std::span<const std::byte> payload(nullptr_, 1000);
  receiver_.HandleData(now_, std::nullopt, h, {}, payload);
  AckHeader ack = Ack();
  EXPECT_TRUE(Reports(ack, Psn(64)));
  EXPECT_EQ(ack.flags & AckHeader::kEcho, 0);
}

TEST_F(ReceiverTest, NumbersWrapInsideAWindow) {
  const Psn first(0xFFFF'FFE0);
  Open(first);
  // 400 packets, each pair swapped, across the wrap after 32.
  for (uint32_t i = 0; i < 400; i += 2) {
    Data(first + i + 1);
    Data(first + i);
  }
  EXPECT_EQ(receiver_.cumulative(), first + 400);
  EXPECT_EQ(counters().data_packets_received, 400u);
  EXPECT_EQ(counters().duplicates_received, 0u);
}

// The last packet in reach is taken, the next is outside; both stay so after the window has moved.
TEST_F(ReceiverTest, TheEdgeOfTheBitmapHolds) {
  for (const uint32_t first : {0u, 1u, 63u, 4000u, 0xFFFF'FFFFu}) {
    std::destroy_at(&receiver_);
    std::construct_at(&receiver_, shared_);
    counters() = {};
    Open(Psn(first));
    Data(Psn(first) + kReach);
    EXPECT_EQ(counters().outside_window, 1u);
    Data(Psn(first) + kReach - 1);
    EXPECT_EQ(counters().data_packets_received, 1u);
    Data(Psn(first));  // moves on by one
    Data(Psn(first) + kReach);
    EXPECT_EQ(counters().data_packets_received, 3u);
    EXPECT_EQ(counters().outside_window, 1u);
    for (uint32_t i = 1; i < kReach - 1; ++i) Data(Psn(first) + i);
    EXPECT_EQ(receiver_.cumulative(), Psn(first) + kReach + 1);
    EXPECT_EQ(counters().duplicates_received, 0u);
  }
}

TEST_F(ReceiverTest, AFarPacketAsksForAnAcknowledgementThatTellsWhereWeAre) {
  Open(Psn(10));
  Data(Psn(10) + 100'000);
  EXPECT_TRUE(receiver_.ack_due());
  const AckHeader ack = Ack();
  EXPECT_EQ(ack.cumulative, Psn(10));
  EXPECT_EQ(ack.words, 0);
}

TEST_F(ReceiverTest, EachDuplicateIsAcknowledgedAndNoneCountsAsNew) {
  Open(Psn(0));
  for (uint32_t i = 0; i < 10; ++i) Data(Psn(i));
  Data(Psn(20));
  Ack();
  for (int i = 0; i < 1000; ++i) {
    Data(i % 2 == 0 ? Psn(3) : Psn(20));
    ASSERT_TRUE(receiver_.ack_due());
    Ack();
    ASSERT_FALSE(receiver_.ack_due());
  }
  EXPECT_EQ(counters().duplicates_received, 1000u);
  EXPECT_EQ(counters().data_packets_received, 11u);
  EXPECT_EQ(counters().data_bytes_received, 11'000u);
  EXPECT_EQ(receiver_.cumulative(), Psn(10));
}

// A duplicate from anywhere in the past window is one; from beyond, it is not ours.
TEST_F(ReceiverTest, OldPacketsAreDuplicatesForAWindow) {
  Open(Psn(0));
  for (uint32_t i = 0; i < 10'000; ++i) Data(Psn(i));
  Data(Psn(10'000 - Receiver::kWindow));
  EXPECT_EQ(counters().duplicates_received, 1u);
  Data(Psn(10'000 - Receiver::kWindow - 1));
  EXPECT_EQ(counters().outside_window, 1u);
}

TEST_F(ReceiverTest, AcknowledgesEverySoManyBytes) {
  Open(Psn(0), {.ack_every = Bytes(4096)});
  // 1000 B count as 1024: due with the fourth.
  for (uint32_t i = 0; i < 3; ++i) Data(Psn(i));
  EXPECT_FALSE(receiver_.ack_due());
  Data(Psn(3));
  EXPECT_TRUE(receiver_.ack_due());
  const AckHeader ack = Ack();
  EXPECT_EQ(ack.cumulative, Psn(4));
  EXPECT_EQ(ack.words, 1);
  EXPECT_FALSE(receiver_.ack_due());
}

TEST_F(ReceiverTest, AcknowledgesOnRequestAndWithDutyZeroEachPacket) {
  Open(Psn(0));
  Data(Psn(0));
  EXPECT_FALSE(receiver_.ack_due());
  Data(Psn(1), false, DataHeader::kAckRequest);
  EXPECT_TRUE(receiver_.ack_due());
  Ack();
  Open(Psn(2), {.ack_every = Bytes(0)});
  Data(Psn(2));
  EXPECT_TRUE(receiver_.ack_due());
}

TEST_F(ReceiverTest, WaitsNoLongerThanTheDelay) {
  Open(Psn(0));
  const Time first = now_;
  Data(Psn(0));
  now_ = now_ + Micros(3);
  Data(Psn(1));
  EXPECT_EQ(receiver_.NextDeadline(), first + kDelay);  // of the oldest that waits
  receiver_.HandleTimer(first + kDelay - Nanos(1));
  EXPECT_FALSE(receiver_.ack_due());
  receiver_.HandleTimer(first + kDelay);
  EXPECT_TRUE(receiver_.ack_due());
  EXPECT_EQ(receiver_.NextDeadline(), Time::Never());  // it only has to be polled
}

// The hold is counted from the newest packet, so that coalescing adds nothing to a round trip.
TEST_F(ReceiverTest, TheHoldIsThatOfTheEchoedPacket) {
  Open(Psn(0));
  for (uint32_t i = 0; i < 8; ++i) {
    Data(Psn(i), false, 0, static_cast<uint8_t>(i));
    now_ = now_ + Micros(1);
  }
  const AckHeader ack = Ack(Nanos(500));
  EXPECT_EQ(ack.flags, AckHeader::kEcho);
  EXPECT_EQ(ack.echo, Psn(7));
  EXPECT_EQ(ack.attempt, 7);
  EXPECT_EQ(ack.hold, Nanos(1500));
}

TEST_F(ReceiverTest, MarksAreEchoedPacketByPacket) {
  Open(Psn(100));
  for (uint32_t i = 0; i < 50; ++i) Data(Psn(100) + i, i % 3 == 0);
  const AckHeader ack = Ack();
  for (uint32_t i = 0; i < 50; ++i) {
    EXPECT_TRUE(Reports(ack, Psn(100) + i));
    EXPECT_EQ(ReportsMark(ack, Psn(100) + i), i % 3 == 0) << i;
  }
  Data(Psn(150));
  EXPECT_FALSE(ReportsMark(Ack(), Psn(102)));  // told once
}

// 256 packets fit four words; the rest has words of its own, which follow at once.
TEST_F(ReceiverTest, FarAwayPacketsGetTheirOwnWords) {
  Open(Psn(0));
  Data(Psn(10));
  Data(Psn(1000), true);
  Data(Psn(2000));
  Data(Psn(1001), true);
  EXPECT_TRUE(receiver_.ack_due());
  AckHeader ack = Ack();
  EXPECT_TRUE(Reports(ack, Psn(10)));
  EXPECT_FALSE(Reports(ack, Psn(1000)));
  ASSERT_TRUE(receiver_.ack_due());
  ack = Ack();
  EXPECT_TRUE(Reports(ack, Psn(1000)) && ReportsMark(ack, Psn(1000)));
  EXPECT_TRUE(Reports(ack, Psn(1001)) && ReportsMark(ack, Psn(1001)));
  ASSERT_TRUE(receiver_.ack_due());
  EXPECT_TRUE(Reports(Ack(), Psn(2000)));
  EXPECT_FALSE(receiver_.ack_due());
}

// Words grow to both sides of the first packet, up to four.
TEST_F(ReceiverTest, WordsGrowForwardsAndBackwards) {
  Open(Psn(0));
  Data(Psn(130), true);
  Data(Psn(70), true);
  Data(Psn(5));
  Data(Psn(255), true);
  const AckHeader ack = Ack();
  EXPECT_EQ(ack.base, Psn(0));
  EXPECT_EQ(ack.words, 4);
  for (const uint32_t psn : {130u, 70u, 255u}) EXPECT_TRUE(ReportsMark(ack, Psn(psn))) << psn;
  EXPECT_FALSE(ReportsMark(ack, Psn(5)));
  EXPECT_FALSE(receiver_.ack_due());
}

// What closed up behind the cumulative number is reported as arrived although its word is reused.
TEST_F(ReceiverTest, ClosedWordsAreReportedWhole) {
  Open(Psn(0));
  for (uint32_t i = 0; i < 100; ++i) Data(Psn(i));
  const AckHeader ack = Ack();
  EXPECT_EQ(ack.cumulative, Psn(100));
  for (uint32_t i = 0; i < 100; ++i) EXPECT_TRUE(Reports(ack, Psn(i))) << i;
  EXPECT_FALSE(Reports(ack, Psn(100)));
}

TEST_F(ReceiverTest, CnpsKeepTheirInterval) {
  Open(Psn(0), {.cnp_interval = Micros(50)});
  Data(Psn(0));
  EXPECT_FALSE(receiver_.cnp_due());
  Data(Psn(1), true);
  EXPECT_TRUE(receiver_.TakeCnp());
  now_ = now_ + Micros(50) - Nanos(1);
  Data(Psn(2), true);
  EXPECT_FALSE(receiver_.TakeCnp());
  now_ = now_ + Nanos(1);
  Data(Psn(3), true);
  EXPECT_TRUE(receiver_.TakeCnp());
}

TEST_F(ReceiverTest, AProbeIsAnsweredWithItsNumberAndTheLatestWord) {
  Open(Psn(0));
  for (uint32_t i = 0; i < 200; ++i) Data(Psn(i));
  Ack();
  receiver_.HandleProbe(now_, 42);
  ASSERT_TRUE(receiver_.ack_due());
  const AckHeader ack = Ack(Micros(1));
  EXPECT_EQ(ack.flags, AckHeader::kProbeEcho);
  EXPECT_EQ(ack.echo.value(), 42u);
  EXPECT_EQ(ack.hold, Micros(1));
  EXPECT_TRUE(Reports(ack, Psn(199)));
}

// Random arrivals: at any time an acknowledgement tells no lie, and once all has arrived and every
// acknowledgement is out, nothing is missing.
TEST_F(ReceiverTest, NeverReportsWhatHasNotArrived) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::destroy_at(&receiver_);
    std::construct_at(&receiver_, shared_);
    Rng rng(seed);
    const Psn first(0u - rng.Below(1000));
    Open(first);
    std::vector<bool> arrived(1500, false);
    uint32_t low = 0;
    while (low < arrived.size()) {
      const uint32_t i = rng.Chance(0.5) ? low : std::min<uint32_t>(1499, low + rng.Below(600));
      Data(first + i, rng.Chance(0.2));
      arrived[i] = true;
      while (low < arrived.size() && arrived[low]) ++low;
      if (!receiver_.ack_due()) continue;
      const AckHeader ack = Ack();
      ASSERT_EQ(ack.cumulative, first + low);
      for (int32_t bit = 0; bit < 64 * ack.words; ++bit) {
        const int32_t at = Distance(first, ack.base + static_cast<uint32_t>(bit));
        if (at < 0) continue;
        const bool is_there = at < 1500 && arrived[static_cast<size_t>(at)];
        ASSERT_EQ(Reports(ack, first + static_cast<uint32_t>(at)), is_there) << at;
      }
    }
  }
}

}  // namespace
}  // namespace weir
