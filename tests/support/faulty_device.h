// A device that lies or fails, around one that works.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "datapath/nic_device.h"

namespace weir {

// What a port does wrong. Zero: nothing.
struct PortFaults {
  uint32_t loses_every = 0;       // received frames: each n-th
  uint32_t longest = 0;           // received frames longer than this, in bytes, vanish
  bool deaf = false;              // nothing arrives
  bool mute = false;              // nothing leaves
  uint32_t burst_max = kBurst;    // frames at a time, each way
  uint32_t cuts_every = 0;        // each n-th received frame is said to be half as long
  uint32_t stretches_every = 0;   // each n-th received frame is said to be 20,000 bytes longer
  uint32_t spoils_every = 0;      // each n-th received frame has another byte at its end
  uint32_t empty_every = 0;       // each n-th call finds no buffer to lend
  uint64_t completions_max = 0;   // after so many frames sent no buffer comes back
  uint32_t clock_back_every = 0;  // each n-th look at the clock is a millisecond back
};

class FaultyPort final : public NicPort {
 public:
  FaultyPort(NicPort& inner, const PortFaults& faults) : inner_(inner), faults_(faults) {}

  Time Now() override {
    return Each(faults_.clock_back_every, clock_) ? inner_.Now() - Millis(1) : inner_.Now();
  }
  const PortCaps& caps() const override { return inner_.caps(); }

  size_t RxBurst(std::span<Frame> out) override {
    const size_t got = inner_.RxBurst(out.first(std::min<size_t>(out.size(), faults_.burst_max)));
    size_t kept = 0;
    for (size_t i = 0; i < got; ++i) {
      if (Loses(out[i])) {
        inner_.Release({&out[i], 1});
        continue;
      }
      out[kept] = out[i];
      Lie(out[kept++]);
    }
    return kept;
  }
  void Release(std::span<const Frame> frames) override { inner_.Release(frames); }

  size_t TxFrames(std::span<Frame> out) override {
    const bool dry = faults_.completions_max > 0 && sent_ >= faults_.completions_max;
    if (dry || Each(faults_.empty_every, lendings_)) return 0;
    return inner_.TxFrames(out.first(std::min<size_t>(out.size(), faults_.burst_max)));
  }
  void TxBurst(std::span<const Frame> frames) override {
    sent_ += frames.size();
    std::vector<Frame> out(frames.begin(), frames.end());
    for (Frame& frame : out) frame.size = faults_.mute ? 0 : frame.size;
    inner_.TxBurst(out);
  }

 private:
  static bool Each(uint32_t n, uint32_t& count) { return n > 0 && ++count % n == 0; }
  static uint32_t LengthOf(const Frame& frame) { return frame.size + frame.payload_size; }

  bool Loses(const Frame& frame) {
    return faults_.deaf || Each(faults_.loses_every, lost_) ||
           (faults_.longest > 0 && LengthOf(frame) > faults_.longest);
  }
  void Lie(Frame& frame) {
    if (Each(faults_.cuts_every, cut_)) {
      frame.size /= 2;
      frame.payload_size /= 2;
    }
    if (Each(faults_.stretches_every, stretched_)) frame.size += 20'000;
    if (Each(faults_.spoils_every, spoiled_) && frame.payload_size == 0) {
      frame.data[frame.size - 1] ^= std::byte{0x55};
    }
  }

  NicPort& inner_;
  PortFaults faults_;
  uint64_t sent_ = 0;
  uint32_t clock_ = 0, lost_ = 0, cut_ = 0, stretched_ = 0, spoiled_ = 0, lendings_ = 0;
};

class FaultyDevice final : public NicDevice {
 public:
  FaultyDevice(std::unique_ptr<NicDevice> inner, const PortFaults& faults)
      : inner_(std::move(inner)) {
    for (uint32_t q = 0; q < inner_->queues(); ++q) {
      ports_.push_back(std::make_unique<FaultyPort>(inner_->queue(q), faults));
    }
  }

  const PortCaps& caps() const override { return inner_->caps(); }
  const NetAddress& address() const override { return inner_->address(); }
  uint32_t queues() const override { return inner_->queues(); }
  NicPort& queue(uint32_t index) override { return *ports_[index]; }
  Time Now() override { return inner_->Now(); }
  DeviceCounters counters() const override { return inner_->counters(); }
  const std::vector<std::string>& warnings() const override { return inner_->warnings(); }
  std::vector<std::string> features() const override { return inner_->features(); }
  DeviceFacts facts() const override { return inner_->facts(); }
  bool link_up() const override { return inner_->link_up(); }
  absl::Status SetLink(bool up) override { return inner_->SetLink(up); }
  bool gone() const override { return inner_->gone(); }
  absl::Status Resolve(NetAddress& remote) override { return inner_->Resolve(remote); }
  absl::Status RegisterMemory(std::byte* base, size_t size) override {
    return inner_->RegisterMemory(base, size);
  }
  absl::Status UnregisterMemory(std::byte* base) override { return inner_->UnregisterMemory(base); }

 private:
  std::unique_ptr<NicDevice> inner_;
  std::vector<std::unique_ptr<FaultyPort>> ports_;
};

}  // namespace weir
