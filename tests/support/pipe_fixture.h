// One connection through a pipe, whose sender runs what the test chooses and writes to any address.
#pragma once

#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/pipe.h"
#include "tests/support/recorder.h"

namespace weir {

class PipeFixture : public testing::Test {
 protected:
  static constexpr uint32_t kPayload = 4096;
  static constexpr Bytes kPacket{4186};  // 4096 and 90
  static constexpr ReceiverDuty kAckEach = {.ack_every = Bytes(0)};
  // Of one packet: 334.88 ns there, 106 B or 8.48 ns back, 5 us each way; each rounded up.
  static constexpr Duration kRtt = Nanos(335 + 5'000 + 9 + 5'000);

  void Open(const Binding& binding, const EndpointConfig& config = PipeConfig()) {
    binding_ = binding;
    pipe_ = std::make_unique<Pipe>(config, config);
    id_ = pipe_->Open(binding_);
    *(*pipe_)[1].RegisterRegion(nullptr, uint64_t{1} << 40);
    start_ = pipe_->now();
  }
  // One write of whole packets.
  void Write(uint32_t packets) { WriteBytes(packets * kPayload); }
  void WriteBytes(uint32_t bytes) {
    ASSERT_TRUE((*pipe_)[0].PostWrite(pipe_->now(), id_, {.length = bytes}).ok());
    pipe_->Kick(0);
  }
  void OnData(std::function<Fate(const Sight&)> hook) {
    pipe_->OnPacket([hook](const Sight& s) {
      return s.from == 0 && s.info.type == PacketType::kData ? hook(s) : Fate{};
    });
  }
  // What has left the sender.
  std::vector<Sight> Sent(PacketType type = PacketType::kData) {
    std::vector<Sight> packets;
    for (const Sight& s : pipe_->sent()) {
      if (s.from == 0 && s.info.type == type) packets.push_back(s);
    }
    return packets;
  }
  int Completed() { return pipe_->Count(0, Event::kSent); }
  const Counters& counters() { return (*pipe_)[0].counters(); }
  const Counters& peer_counters() { return (*pipe_)[1].counters(); }
  const Sender& sender() { return (*pipe_)[0].Find(id_)->sender; }

  CcLog log_;
  Binding binding_;
  std::unique_ptr<Pipe> pipe_;
  WireId id_{};
  Time start_{};  // when the connection was ready
};

}  // namespace weir
