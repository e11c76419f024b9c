#include "datapath/tx_window.h"

#include <list>
#include <map>
#include <vector>

#include "datapath/api/rng.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

constexpr Psn kNearWrap(0xFFFF'FFF0);

std::vector<uint32_t> AckWord(TxWindow& window, Psn base, uint64_t bits) {
  std::vector<uint32_t> acked;
  window.AckWord(base, bits, [&](Psn psn, TxRecord&) { acked.push_back(psn.value()); });
  return acked;
}
std::vector<uint32_t> AckBelow(TxWindow& window, Psn cumulative) {
  std::vector<uint32_t> acked;
  window.AckBelow(cumulative, [&](Psn psn, TxRecord&) { acked.push_back(psn.value()); });
  return acked;
}

TEST(TxWindowTest, NumbersRunOnAcrossTheWrap) {
  Pool<TxPage> pool(8);
  TxWindow window;
  window.Reset(pool, kNearWrap);
  for (uint32_t i = 0; i < 40; ++i) {
    EXPECT_EQ(window.next(), kNearWrap + i);
    window.Append().message = i;
  }
  EXPECT_EQ(window.span(), 40u);
  EXPECT_EQ(window.Find(Psn(3))->message, 19u);  // 16 before the wrap, then 0 1 2 3
  EXPECT_EQ(window.Find(kNearWrap - 1), nullptr);
  EXPECT_EQ(window.Find(kNearWrap + 40), nullptr);
  EXPECT_EQ(AckBelow(window, Psn(2)).size(), 18u);
  EXPECT_EQ(window.una(), Psn(2));
  EXPECT_EQ(window.PsnAt(TxWindow::Slot(Psn(20))), Psn(20));
}

TEST(TxWindowTest, APacketIsAcknowledgedOnce) {
  Pool<TxPage> pool(8);
  TxWindow window;
  window.Reset(pool, Psn(64));
  for (int i = 0; i < 10; ++i) window.Append();
  EXPECT_EQ(AckWord(window, Psn(64), 0b1010), (std::vector<uint32_t>{65, 67}));
  EXPECT_EQ(AckWord(window, Psn(64), 0b1110), (std::vector<uint32_t>{66}));
  EXPECT_EQ(AckBelow(window, Psn(70)), (std::vector<uint32_t>{64, 68, 69}));
}

// Bits for packets that were never sent, or that are long done, say nothing.
TEST(TxWindowTest, BitsOutsideTheWindowAreCutOff) {
  Pool<TxPage> pool(8);
  TxWindow window;
  window.Reset(pool, Psn(70));
  for (int i = 0; i < 10; ++i) window.Append();  // 70 ... 79
  EXPECT_EQ(AckWord(window, Psn(64), ~uint64_t{0}).size(), 10u);
  EXPECT_TRUE(AckWord(window, Psn(128), ~uint64_t{0}).empty());
  EXPECT_TRUE(AckWord(window, Psn(0), ~uint64_t{0}).empty());
  EXPECT_TRUE(AckWord(window, Psn(0x8000'0000), ~uint64_t{0}).empty());
}

TEST(TxWindowTest, PagesComeAndGoWithTheWindow) {
  Pool<TxPage> pool(8);
  TxWindow window;
  window.Reset(pool, Psn(60));
  EXPECT_EQ(pool.used(), 0u);
  for (int i = 0; i < 100; ++i) window.Append();  // 60 ... 159: pages 0, 1, 2
  EXPECT_EQ(pool.used(), 3u);
  AckBelow(window, Psn(130));
  EXPECT_EQ(pool.used(), 1u);
  AckBelow(window, Psn(160));
  EXPECT_EQ(pool.used(), 0u);  // idle, in the middle of a page
  window.Append().message = 7;
  EXPECT_EQ(window.Find(Psn(160))->message, 7u);
  EXPECT_EQ(AckBelow(window, Psn(161)), (std::vector<uint32_t>{160}));
  EXPECT_EQ(pool.used(), 0u);
}

TEST(TxWindowTest, RoomEndsWithTheLimitOrThePool) {
  Pool<TxPage> pool(2);
  TxWindow window;
  window.Reset(pool, Psn(0));
  for (int i = 0; i < 100; ++i) window.Append();
  EXPECT_TRUE(window.HasRoom(101));
  EXPECT_FALSE(window.HasRoom(100));
  for (int i = 100; i < 128; ++i) window.Append();
  EXPECT_FALSE(window.HasRoom(TxWindow::kUsable));  // both pages are full
  AckBelow(window, Psn(64));
  EXPECT_TRUE(window.HasRoom(TxWindow::kUsable));
  window.ReleaseAll();
  EXPECT_EQ(pool.used(), 0u);
}

// The widest window, started anywhere in a page: no page is needed twice at a time.
TEST(TxWindowTest, TheWholeUsableSpanFits) {
  for (const uint32_t first : {0u, 1u, 63u, 64u, 0xFFFF'FFFFu}) {
    Pool<TxPage> pool(TxWindow::kPages);
    TxWindow window;
    window.Reset(pool, Psn(first));
    for (uint32_t i = 0; window.HasRoom(TxWindow::kUsable); ++i) window.Append().message = i;
    ASSERT_EQ(window.span(), TxWindow::kUsable);
    for (uint32_t i = 0; i < TxWindow::kUsable; ++i) {
      ASSERT_EQ(window.Find(Psn(first) + i)->message, i);
    }
    EXPECT_EQ(AckBelow(window, Psn(first) + TxWindow::kUsable).size(), TxWindow::kUsable);
    EXPECT_EQ(pool.used(), 0u);
  }
}

// Against plain containers: what is open, and the two lists.
class WindowModel {
 public:
  explicit WindowModel(uint64_t seed) : rng_(seed), pool_(TxWindow::kPages) {
    const Psn first(0u - rng_.Below(3000));
    una_ = next_ = first;
    window_.Reset(pool_, first);
  }

  void Step() {
    switch (rng_.Below(5)) {
      case 0:
      case 1:
        return Send();
      case 2:
        return Move();
      case 3:
        return AckSome();
      default:
        return AckAll();
    }
  }
  void Check() {
    ASSERT_EQ(window_.una(), una_);
    ASSERT_EQ(window_.next(), next_);
    CheckList(window_.in_flight, in_flight_);
    CheckList(window_.lost, lost_);
  }

 private:
  using Order = std::list<uint32_t>;

  void Send() {
    for (uint32_t n = rng_.Below(100); n > 0 && window_.HasRoom(TxWindow::kUsable); --n) {
      window_.Append();
      window_.PushBack(window_.in_flight, TxWindow::Slot(next_));
      in_flight_.push_back(next_.value());
      next_ = next_ + 1;
    }
  }
  // A random packet of one list goes to the end of the other.
  void Move() {
    const bool lose = rng_.Chance(0.5);
    Order& from = lose ? in_flight_ : lost_;
    if (from.empty()) return;
    auto it = std::next(from.begin(), rng_.Below(static_cast<uint32_t>(from.size())));
    const uint16_t slot = TxWindow::Slot(Psn(*it));
    window_.Remove(lose ? window_.in_flight : window_.lost, slot);
    window_.PushBack(lose ? window_.lost : window_.in_flight, slot);
    Order& to = lose ? lost_ : in_flight_;
    to.splice(to.end(), from, it);
  }
  void Gone(Psn psn) {
    const bool lost = std::find(lost_.begin(), lost_.end(), psn.value()) != lost_.end();
    window_.Remove(lost ? window_.lost : window_.in_flight, TxWindow::Slot(psn));
    (lost ? lost_ : in_flight_).remove(psn.value());
  }
  bool Open(Psn psn) const {
    const auto in = [&](const Order& o) {
      return std::find(o.begin(), o.end(), psn.value()) != o.end();
    };
    return in(in_flight_) || in(lost_);
  }
  void AckSome() {
    const Psn base((una_ + rng_.Below(300)).value() & ~63u);
    const uint64_t bits = rng_.Next();
    std::vector<uint32_t> expected;
    for (uint32_t i = 0; i < 64; ++i) {
      if ((bits >> i & 1) != 0 && Open(base + i)) expected.push_back((base + i).value());
    }
    std::vector<uint32_t> acked;
    window_.AckWord(base, bits, [&](Psn psn, TxRecord&) {
      acked.push_back(psn.value());
      Gone(psn);
    });
    ASSERT_EQ(acked, expected);
  }
  void AckAll() {
    const uint32_t n = rng_.Below(static_cast<uint32_t>(Distance(una_, next_)) + 1);
    std::vector<uint32_t> expected;
    for (uint32_t i = 0; i < n; ++i) {
      if (Open(una_ + i)) expected.push_back((una_ + i).value());
    }
    std::vector<uint32_t> acked;
    window_.AckBelow(una_ + n, [&](Psn psn, TxRecord&) {
      acked.push_back(psn.value());
      Gone(psn);
    });
    una_ = una_ + n;
    ASSERT_EQ(acked, expected);
    const uint32_t pages = una_ == next_ ? 0 : (next_ - 1).value() / 64 - una_.value() / 64 + 1;
    if (Before(una_, next_) && una_.value() < next_.value()) {
      ASSERT_EQ(pool_.used(), pages);
    }
  }
  void CheckList(const TxWindow::List& list, const Order& order) {
    uint16_t slot = list.head;
    for (const uint32_t psn : order) {
      ASSERT_EQ(slot, TxWindow::Slot(Psn(psn)));
      ASSERT_EQ(window_.PsnAt(slot), Psn(psn));
      slot = window_.At(slot).next;
    }
    ASSERT_EQ(slot, TxWindow::kNil);
  }

  Rng rng_;
  Pool<TxPage> pool_;
  TxWindow window_;
  Psn una_, next_;
  Order in_flight_, lost_;
};

TEST(TxWindowTest, BehavesLikePlainContainers) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    WindowModel model(seed);
    for (int i = 0; i < 300 && !testing::Test::HasFailure(); ++i) {
      model.Step();
      model.Check();
    }
  }
}

}  // namespace
}  // namespace weir
