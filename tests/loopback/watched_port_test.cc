#include "testbed/live/watched_port.h"

#include "gtest/gtest.h"

namespace weir {
namespace {

// A port where always one frame waits, and one can be sent.
class BusyPort final : public NicPort {
 public:
  Time Now() override { return now; }
  const PortCaps& caps() const override { return caps_; }
  size_t RxBurst(std::span<Frame>) override { return waiting; }
  void Release(std::span<const Frame>) override {}
  size_t TxFrames(std::span<Frame>) override { return 1; }
  void TxBurst(std::span<const Frame>) override {}

  Time now{};
  size_t waiting = 1;

 private:
  PortCaps caps_;
};

Time At(int64_t micros) { return Time(0) + Micros(micros); }

TEST(WatchedPortTest, KnowsTheLongestTimeBetweenTwoPolls) {
  BusyPort inner;
  WatchedPort port(inner);
  inner.now = At(100);
  port.StartWatching();
  for (const int64_t micros : {101, 103, 110, 112}) {
    inner.now = At(micros);
    EXPECT_EQ(port.Now(), At(micros));
  }
  EXPECT_EQ(port.longest_gap(), Micros(7));
  port.StartWatching();
  EXPECT_EQ(port.longest_gap(), Duration(0));
}

TEST(WatchedPortTest, WhileItStandsStillSoDoesItsClock) {
  BusyPort inner;
  WatchedPort port(inner);
  Frame frame;
  inner.now = At(10);
  port.StartWatching();
  EXPECT_EQ(port.Now(), At(10));
  EXPECT_EQ(port.RxBurst({&frame, 1}), 1u);
  port.StandStill(At(20));
  port.StandStill(At(15));  // does not shorten it
  inner.now = At(20) - Nanos(1);
  EXPECT_EQ(port.Now(), At(10));
  EXPECT_EQ(port.RxBurst({&frame, 1}), 0u);
  EXPECT_EQ(port.TxFrames({&frame, 1}), 0u);
  EXPECT_TRUE(port.StandsStill(At(19)));
  inner.now = At(20);
  EXPECT_EQ(port.Now(), At(20));
  EXPECT_EQ(port.RxBurst({&frame, 1}), 1u);
  EXPECT_EQ(port.TxFrames({&frame, 1}), 1u);
  EXPECT_EQ(port.longest_gap(), Duration(0));  // it was meant to
}

TEST(WatchedPortTest, CountsPollsThatFindNothing) {
  BusyPort inner;
  WatchedPort port(inner);
  Frame frame;
  port.Now();
  port.RxBurst({&frame, 1});
  EXPECT_EQ(port.empty_polls(), 0u);
  inner.waiting = 0;
  port.RxBurst({&frame, 1});
  EXPECT_EQ(port.empty_polls(), 1u);
}

}  // namespace
}  // namespace weir
