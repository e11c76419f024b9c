// A ring's far end without a ring: the test is the host, and the owner of all frames.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "nic_drivers/dpdk/ring_pair.h"
#include "testbed/fabric/host_address.h"

namespace weir {

// A frame with its headers in one place and its payload in another, as a port sends them.
struct FakeFrame {
  std::vector<std::byte> headers{};
  std::vector<std::byte> payload{};
  std::vector<std::byte> whole{};  // of a copy: both in one buffer
};

class FakeFarEnd final : public RingFarEnd {
 public:
  explicit FakeFarEnd(uint32_t host) : host_(host) {}

  // --- The test's side ---
  // A data packet of `payload` bytes, each of value `fill`; returns where they are.
  const std::byte* SendData(uint32_t to, uint16_t payload, uint8_t fill = 0,
                            bool telemetry = false) {
    auto frame = std::make_unique<FakeFrame>();
    frame->headers.resize(kFrameHeaderRoom);
    frame->payload.assign(payload, std::byte{fill});
    const FrameWriter writer(HostAddress(host_, false), HostAddress(to, false), 0);
    DataHeader h;
    h.payload = payload;
    h.to = WireId{1};
    h.psn = next_psn_;
    next_psn_ = next_psn_ + 1;
    h.length = payload;
    if (telemetry) h.flags |= DataHeader::kTelemetry;
    frame->headers.resize(writer.Write(h, 0, false, frame->headers.data()));
    const std::byte* bytes = frame->payload.data();
    Push(std::move(frame));
    return bytes;
  }
  void SendControl(uint32_t to) {
    auto frame = std::make_unique<FakeFrame>();
    frame->headers.resize(kFrameHeaderRoom);
    const FrameWriter writer(HostAddress(host_, false), HostAddress(to, false), 0);
    ControlHeader h;
    h.type = PacketType::kProbe;
    h.to = h.from = WireId{1};
    frame->headers.resize(writer.Write(h, 0, frame->headers.data()));
    Push(std::move(frame));
  }
  void SendBytes(std::vector<std::byte> bytes) {
    auto frame = std::make_unique<FakeFrame>();
    frame->headers = std::move(bytes);
    Push(std::move(frame));
  }
  // What has come for this host.
  std::vector<Frame>& received() { return received_; }
  void set_room(size_t frames) { room_ = frames; }
  uint32_t dropped() const { return dropped_; }
  uint32_t copies() const { return copies_; }

  // --- The carrier's side ---
  Time Now() override { return Time(0); }
  size_t Receive(std::span<Frame> out) override {
    size_t n = 0;
    for (; n < out.size() && !sent_.empty(); ++n, sent_.pop_front()) out[n] = sent_.front();
    return n;
  }
  size_t Send(std::span<const Frame> frames) override {
    size_t n = 0;
    for (; n < frames.size() && received_.size() < room_; ++n) received_.push_back(frames[n]);
    return n;
  }
  size_t SendTo(uint32_t /*queue*/, std::span<const Frame> frames) override { return Send(frames); }
  void Drop(std::span<const Frame> frames) override {
    dropped_ += static_cast<uint32_t>(frames.size());
  }
  bool Copy(const Frame& frame, Frame& out) override {
    auto copy = std::make_unique<FakeFrame>();
    copy->whole.assign(frame.data, frame.data + frame.size);
    copy->whole.insert(copy->whole.end(), frame.payload, frame.payload + frame.payload_size);
    out = {.data = copy->whole.data(),
           .size = static_cast<uint32_t>(copy->whole.size()),
           .owner = copy.get()};
    owned_.push_back(std::move(copy));
    ++copies_;
    return true;
  }

 private:
  void Push(std::unique_ptr<FakeFrame> frame) {
    sent_.push_back({.data = frame->headers.data(),
                     .size = static_cast<uint32_t>(frame->headers.size()),
                     .payload_size = static_cast<uint32_t>(frame->payload.size()),
                     .payload = frame->payload.empty() ? nullptr : frame->payload.data(),
                     .owner = frame.get()});
    owned_.push_back(std::move(frame));
  }

  uint32_t host_;
  Psn next_psn_{};
  std::deque<Frame> sent_;
  std::vector<Frame> received_;
  size_t room_ = SIZE_MAX;
  uint32_t dropped_ = 0;
  uint32_t copies_ = 0;
  std::vector<std::unique_ptr<FakeFrame>> owned_;
};

}  // namespace weir
