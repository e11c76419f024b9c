// How full the receive queue is, as the receiver tells its senders: 32 steps of the buffer, from
// how long frames wait there before they are polled.
#include <gtest/gtest.h>

#include "tests/support/pipe_fixture.h"

namespace weir {
namespace {

constexpr Duration kOneWay = Nanos(335 + 5'000);  // a full packet, to the other side's port

class ReceiverLevelTest : public PipeFixture {
 protected:
  // Packets one by one, each of which waits for `wait` at the receiver's port.
  void SendWaiting(int packets, Duration wait) {
    for (int i = 0; i < packets; ++i) {
      Write(1);
      pipe_->Stall(1, pipe_->now() + kOneWay + wait);
      pipe_->RunFor(Micros(100));
    }
  }
};

// At 100 Gb/s 8 us are 100 kB, of a buffer of 194 kB 16.5 of 32 steps.
TEST_F(ReceiverLevelTest, IsWhatArrivesMeanwhileInStepsOfTheBuffer) {
  EndpointConfig config = PipeConfig();
  config.rx_buffer = Bytes(194'000);
  Open(Record(log_, "ecmp", 8, kAckEach), config);
  SendWaiting(1, Duration(0));
  EXPECT_EQ(log_.acks.back().receiver_level, 0);
  SendWaiting(400, Micros(8));
  EXPECT_EQ(log_.acks.back().receiver_level, 16);
  // Never a step that does not exist.
  SendWaiting(400, Micros(40));
  EXPECT_EQ(log_.acks.back().receiver_level, 31);
  // And it falls again.
  SendWaiting(400, Duration(0));
  EXPECT_EQ(log_.acks.back().receiver_level, 0);
}

// A larger buffer is fuller later.
TEST_F(ReceiverLevelTest, IsHalfAsHighInTwiceTheBuffer) {
  EndpointConfig config = PipeConfig();
  config.rx_buffer = Bytes(2 * 194'000);
  Open(Record(log_, "ecmp", 8, kAckEach), config);
  SendWaiting(400, Micros(8));
  EXPECT_EQ(log_.acks.back().receiver_level, 8);
}

}  // namespace
}  // namespace weir
