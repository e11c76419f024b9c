// A host's port as the loopback testbed needs it: it can stand still, and it says how often it was
// polled.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "datapath/nic_port.h"

namespace weir {

// While it stands still its clock does, nothing arrives and nothing leaves: what a host sees whose
// poll loop does not run.
class WatchedPort final : public NicPort {
 public:
  // `port` outlives this.
  explicit WatchedPort(NicPort& port) : port_(port) {}

  // --- On the thread that polls ---
  Time Now() override {
    const Time now = port_.Now();
    standing_ = now < Time(until_.load(std::memory_order_relaxed));
    if (standing_) {
      stood_ = true;
      return last_;
    }
    const Duration gap = now - last_;
    if (!stood_ && gap > Duration(gap_.load(std::memory_order_relaxed))) {
      gap_.store(gap.count(), std::memory_order_relaxed);
    }
    stood_ = false;
    return last_ = now;
  }
  const PortCaps& caps() const override { return port_.caps(); }
  size_t RxBurst(std::span<Frame> out) override {
    if (standing_) return 0;
    const size_t n = port_.RxBurst(out);
    if (n == 0) empty_.store(empty_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return n;
  }
  void Release(std::span<const Frame> frames) override { port_.Release(frames); }
  size_t TxFrames(std::span<Frame> out) override { return standing_ ? 0 : port_.TxFrames(out); }
  void TxBurst(std::span<const Frame> frames) override { port_.TxBurst(frames); }
  // Begins to count gaps.
  void StartWatching() {
    last_ = port_.Now();
    gap_.store(0, std::memory_order_relaxed);
  }

  // --- On any thread ---
  // No later call shortens it.
  void StandStill(Time until) {
    until_.store(std::max(until_.load(std::memory_order_relaxed), until.nanos()),
                 std::memory_order_relaxed);
  }
  bool StandsStill(Time now) const { return now.nanos() < until_.load(std::memory_order_relaxed); }
  // Longest time between two polls.
  Duration longest_gap() const { return Duration(gap_.load(std::memory_order_relaxed)); }
  // Times that nothing was there to be received.
  uint64_t empty_polls() const { return empty_.load(std::memory_order_relaxed); }

 private:
  NicPort& port_;
  bool standing_ = false;
  bool stood_ = true;  // so that the first poll has no gap
  Time last_{};
  std::atomic<int64_t> until_{0};
  std::atomic<int64_t> gap_{0};
  std::atomic<uint64_t> empty_{0};
};

}  // namespace weir
