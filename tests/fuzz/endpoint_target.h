// Two endpoints, and bytes that say what happens next: time passes, frames go, come twice, change
// or appear from nowhere, the application posts and closes. No check may fail, and all ends well.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "datapath/endpoint.h"
#include "tests/fuzz/forge.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/support/pipe.h"

namespace weir {

class EndpointFuzzer {
 public:
  explicit EndpointFuzzer(std::span<const uint8_t> input) : input_(input) {
    const CcEntry& cc = AllCc()[input_.Number<uint8_t>() % AllCc().size()];
    const LbEntry& lb = AllLb()[input_.Number<uint8_t>() % AllLb().size()];
    const uint32_t paths = 1 + input_.Number<uint8_t>() % 8;
    binding_ = Bind(cc.name, lb.name, paths);
    if (binding_.mismatch() != nullptr) binding_ = Bind(cc.name, "ecmp", paths);
    other_ = Bind("dctcp", "reps", 3);
    for (const int side : {0, 1}) ends_[side] = Make(side);
    id_[0] = *ends_[0]->Connect(now_, Pipe::AddressOf(1), binding_);
  }
  void Run() {
    for (int step = 0; step < kStepsMax && !input_.empty(); ++step) Step();
    // Left alone, both sides come to an end.
    for (const int side : {0, 1}) (void)ends_[side]->Abort(now_, id_[side]);
    for (int i = 0; i < 8; ++i) Turn(i % 2);
  }

 private:
  static constexpr int kStepsMax = 2000;
  static constexpr size_t kFlyingMax = 64;

  std::unique_ptr<Endpoint> Make(int side) {
    EndpointConfig c = PipeConfig(&binding_);
    c.address = Pipe::AddressOf(side);
    const CcEntry& driven = binding_.cc->receiver_half != nullptr ? *binding_.cc : *FindCc("rccc");
    c.credit = driven.receiver_half;
    c.credit_config = driven.defaults();
    c.connections_max = 4;
    c.tx_messages_max = c.rx_messages_max = 16;
    c.completions_max = 64;
    c.tx_pages_max = 8;
    c.payload_max = 256;
    for (const Signal s : kAllSignals) c.signals = c.signals | s;  // any algorithm will do
    auto endpoint = *Endpoint::Create(c);
    (void)*endpoint->RegisterRegion(memory_[side].data(), memory_[side].size());
    return endpoint;
  }
  void Step() {
    const uint8_t op = input_.Number<uint8_t>();
    const int side = op & 1;
    switch (op >> 1 & 15) {
      case 0:
        now_ = now_ + Nanos(input_.Number<uint32_t>() % 100'000'000);
        return Turn(side);
      case 1:
        return Drop(side);
      case 2:
        return Repeat(side);
      case 3:
        return Damage(side);
      case 4:
        return Invent(side);
      case 5:
        return Forge(side);
      case 6:
        return Post(side);
      case 7:
        return Manage(side);
      default:
        now_ = now_ + Nanos(op * 64);
        return Turn(side);
    }
  }
  // One poll: everything that flies towards the side arrives.
  void Turn(int side) {
    Endpoint& e = *ends_[side];
    std::vector<Frame> frames;
    for (std::vector<std::byte>& bytes : flying_[side]) {
      frames.push_back(
          {.data = bytes.data(), .size = static_cast<uint32_t>(bytes.size()), .rx_time = now_});
    }
    e.HandleRx(now_, frames);
    flying_[side].clear();
    e.HandleTimers(now_);
    std::array<std::array<std::byte, kFrameHeaderRoom>, kBurst> room;
    std::array<Frame, kBurst> out;
    const size_t due = e.Due(now_);
    for (size_t i = 0; i < due; ++i) out[i] = {.data = room[i].data()};
    const size_t filled = due == 0 ? 0 : e.PollTx(now_, std::span(out.data(), due));
    for (size_t i = 0; i < filled && flying_[1 - side].size() < kFlyingMax; ++i) {
      std::vector<std::byte> bytes(out[i].data, out[i].data + out[i].size);
      bytes.resize(bytes.size() + out[i].payload_size);
      flying_[1 - side].push_back(std::move(bytes));
    }
    WEIR_CHECK(e.NextWakeup(now_) >= now_);
    Completion c;
    while (e.PollCompletion(c)) {
      if (c.event == Event::kAccepted || c.event == Event::kOpened) id_[side] = c.connection;
    }
  }
  void Drop(int side) {
    if (!flying_[side].empty()) flying_[side].pop_front();
  }
  void Repeat(int side) {
    if (!flying_[side].empty() && flying_[side].size() < kFlyingMax) {
      flying_[side].push_back(flying_[side].front());
    }
  }
  void Damage(int side) {
    if (flying_[side].empty() || flying_[side].back().empty()) return;
    std::vector<std::byte>& bytes = flying_[side].back();
    bytes[input_.Number<uint16_t>() % bytes.size()] ^= std::byte{input_.Number<uint8_t>()};
  }
  // Bytes that no endpoint wrote.
  void Invent(int side) {
    const auto taken = input_.Take(input_.Number<uint8_t>());
    const auto bytes = std::as_bytes(taken);
    if (flying_[side].size() < kFlyingMax) flying_[side].emplace_back(bytes.begin(), bytes.end());
  }
  // A packet with a right checksum for the side's connection, as only a broken peer would send it.
  void Forge(int side) {
    if (flying_[side].size() >= kFlyingMax) return;
    const FrameWriter writer(Pipe::AddressOf(1 - side), Pipe::AddressOf(side), 0);
    const uint8_t kind = input_.Number<uint8_t>();
    flying_[side].push_back(
        ForgePacket(writer, ends_[side]->Find(id_[side]), kind, input_.Number<uint16_t>()));
  }
  void Post(int side) {
    Endpoint& e = *ends_[side];
    const uint32_t length = input_.Number<uint16_t>() % 4096;
    const std::byte* data = memory_[side].data();
    switch (input_.Number<uint8_t>() % 3) {
      case 0:
        (void)e.PostSend(now_, id_[side], {.data = data, .length = length});
        return;
      case 1:
        (void)e.PostReceive(now_, id_[side], {.data = memory_[side].data(), .capacity = length});
        return;
      default:
        (void)e.PostWrite(now_, id_[side], {.data = data, .length = length, .notify = true});
    }
  }
  void Manage(int side) {
    Endpoint& e = *ends_[side];
    switch (input_.Number<uint8_t>() % 4) {
      case 0:
        (void)e.Close(now_, id_[side]);
        return;
      case 1:
        (void)e.Abort(now_, id_[side]);
        return;
      case 2:
        (void)e.Rebind(now_, id_[side], other_);
        return;
      default:
        (void)e.Connect(now_, Pipe::AddressOf(1 - side), binding_);
    }
  }

  FuzzInput input_;
  Binding binding_;
  Binding other_;
  std::array<std::vector<std::byte>, 2> memory_{std::vector<std::byte>(4096),
                                                std::vector<std::byte>(4096)};
  std::array<std::unique_ptr<Endpoint>, 2> ends_;
  std::array<std::deque<std::vector<std::byte>>, 2> flying_;  // towards the side
  WireId id_[2];
  Time now_ = Time(1000);
};

inline void FuzzEndpoint(std::span<const uint8_t> input) { EndpointFuzzer(input).Run(); }

}  // namespace weir
