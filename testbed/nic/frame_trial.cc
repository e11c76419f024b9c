#include "testbed/nic/frame_trial.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_format.h"
#include "testbed/nic/port_watch.h"

namespace weir {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kAtOnce = 16;    // frames; fewer than any device's descriptors
constexpr uint32_t kHopeless = 64;  // of so many none arrived: the rest will not either
constexpr auto kQuiet = std::chrono::milliseconds(40);  // then a frame counts as lost
constexpr auto kLent = std::chrono::seconds(2);  // a port that lends nothing for so long never will

uint32_t HeaderBytes(bool v6) { return DataOverhead(v6) - kEthernetBytes - kFcsBytes; }

class FrameTrial {
 public:
  FrameTrial(NicDevice& from, NicDevice& to, const FrameTrialOptions& options)
      : from_(from),
        to_(to),
        options_(options),
        writer_(from.address(), to.address(), 0),
        payload_(options.packet - HeaderBytes(from.address().v6)),
        seen_(options.count),
        from_watch_("the sender's port"),
        to_watch_("the receiver's port") {
    for (size_t i = 0; i < payload_.size(); ++i) {
      payload_[i] = static_cast<std::byte>((i * 7 + i / 251 + options.trial) & 0xFF);
    }
  }

  FrameTrialResult Run() {
    const DeviceCounters from_before = from_.counters();
    const DeviceCounters to_before = to_.counters();
    while (result_.sent < options_.count && Send()) {
      Await();
      if (result_.sent >= kHopeless && result_.arrived == 0) break;
    }
    const DeviceCounters from_after = from_.counters();
    const DeviceCounters to_after = to_.counters();
    result_.tx_dropped = from_after.tx_dropped - from_before.tx_dropped;
    result_.rx_missed = to_after.rx_missed - to_before.rx_missed;
    result_.rx_errors = to_after.rx_errors - to_before.rx_errors;
    result_.breach = from_watch_.breach().empty() ? to_watch_.breach() : from_watch_.breach();
    return result_;
  }

 private:
  // Up to kAtOnce frames. False: the port lends none any more.
  bool Send() {
    NicPort& port = from_.queue(0);
    Frame frames[kAtOnce];
    const uint32_t want = std::min(kAtOnce, options_.count - result_.sent);
    const Clock::time_point deadline = Clock::now() + kLent;
    size_t lent = 0;
    while (lent == 0) {
      lent = from_watch_.TxFrames(port, std::span(frames, want));
      if (lent == 0 && Clock::now() > deadline) {
        from_watch_.Note(
            "lends no frames any more: what it has sent does not come back, its completions are "
            "lost");
        return false;
      }
      if (lent == 0) Receive(from_, from_watch_, false);
    }
    for (size_t i = 0; i < lent; ++i) {
      DataHeader h{.payload = static_cast<uint16_t>(payload_.size())};
      h.message = options_.trial;
      h.target = result_.sent++;
      h.length = h.payload;
      frames[i].size = writer_.Write(h, 0, false, frames[i].data);
      frames[i].payload = payload_.data();
      frames[i].payload_size = static_cast<uint32_t>(payload_.size());
    }
    port.TxBurst(std::span(frames, lent));
    return true;
  }

  // Until all that was sent has arrived, or nothing does any more.
  void Await() {
    Clock::time_point deadline = Clock::now() + kQuiet;
    while (result_.arrived < result_.sent && Clock::now() < deadline) {
      if (Receive(to_, to_watch_, true) > 0) deadline = Clock::now() + kQuiet;
      // A device may hand on what it was given only when it is polled.
      Receive(from_, from_watch_, false);
    }
  }

  size_t Receive(NicDevice& device, PortWatch& watch, bool counts) {
    Frame frames[kBurst];
    size_t all = 0;
    for (uint32_t q = 0; q < device.queues(); ++q) {
      NicPort& port = device.queue(q);
      const auto got = std::span(frames, watch.RxBurst(port, frames));
      for (const Frame& frame : got) {
        if (counts) Take(frame);
      }
      port.Release(got);
      all += got.size();
    }
    return all;
  }

  void Take(const Frame& frame) {
    FrameInfo info;
    DataHeader h;
    if (ReadFrame({frame.data, frame.size}, info) != WireError::kNone) {
      ++result_.malformed;
      return;
    }
    if (info.type != PacketType::kData) return;  // of connections before
    if (Read(info.packet, h) != WireError::kNone) {
      ++result_.malformed;
      return;
    }
    if (h.message != options_.trial || h.target >= seen_.size()) return;  // of another trial
    if (seen_[h.target]) {
      ++result_.duplicates;
      return;
    }
    seen_[h.target] = true;
    ++result_.arrived;
    if (h.target < newest_) ++result_.reordered;
    newest_ = std::max(newest_, h.target);
    std::span<const std::byte> payload(frame.payload, frame.payload_size);
    if (frame.payload_size == 0) {
      payload = info.packet.subspan(std::min<size_t>(kDataHeaderBytes, info.packet.size()));
    }
    if (!std::equal(payload.begin(), payload.end(), payload_.begin(), payload_.end())) {
      ++result_.damaged;
    }
  }

  NicDevice& from_;
  NicDevice& to_;
  FrameTrialOptions options_;
  FrameWriter writer_;
  std::vector<std::byte> payload_;
  std::vector<bool> seen_;
  uint32_t newest_ = 0;
  PortWatch from_watch_, to_watch_;
  FrameTrialResult result_;
};

}  // namespace

uint32_t FramePacketMin(bool v6) { return HeaderBytes(v6) + 1; }

FrameTrialResult RunFrameTrial(NicDevice& from, NicDevice& to, const FrameTrialOptions& options) {
  return FrameTrial(from, to, options).Run();
}

}  // namespace weir
