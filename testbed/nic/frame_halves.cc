#include "testbed/nic/frame_halves.h"

#include <algorithm>

namespace weir {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kQuiet = std::chrono::milliseconds(40);  // then a frame counts as lost
constexpr auto kLent = std::chrono::seconds(2);  // a port that lends nothing for so long never will

uint32_t HeaderBytes(bool v6) { return DataOverhead(v6) - kEthernetBytes - kFcsBytes; }

std::vector<std::byte> PayloadOf(const FrameTrialOptions& options, bool v6) {
  std::vector<std::byte> payload(options.packet - HeaderBytes(v6));
  for (size_t i = 0; i < payload.size(); ++i) {
    payload[i] = static_cast<std::byte>((i * 7 + i / 251 + options.trial) & 0xFF);
  }
  return payload;
}

// What has come to all queues, each frame to `take`; how many.
template <class Fn>
size_t Receive(NicDevice& device, PortWatch& watch, Fn take) {
  Frame frames[kBurst];
  size_t all = 0;
  for (uint32_t q = 0; q < device.queues(); ++q) {
    NicPort& port = device.queue(q);
    const auto got = std::span(frames, watch.RxBurst(port, frames));
    for (const Frame& frame : got) take(frame);
    port.Release(got);
    all += got.size();
  }
  return all;
}

}  // namespace

uint32_t FramePacketMin(bool v6) { return HeaderBytes(v6) + 1; }

// --- FrameSender ---

FrameSender::FrameSender(NicDevice& device, const NetAddress& peer,
                         const FrameTrialOptions& options)
    : device_(device),
      options_(options),
      writer_(device.address(), peer, 0),
      payload_(PayloadOf(options, device.address().v6)),
      before_(device.counters()) {}

void FrameSender::GoOnTo(uint32_t frames) {
  goal_ = std::min(frames, options_.count);
  deadline_ = Clock::now() + kLent;
}

void FrameSender::Poll() {
  if (sent_ < goal_ && !stuck_) Send();
  Receive(device_, watch_, [](const Frame&) {});
}

void FrameSender::Send() {
  NicPort& port = device_.queue(0);
  Frame frames[kBurst];
  const size_t want = std::min<size_t>(kBurst, goal_ - sent_);
  const size_t lent = watch_.TxFrames(port, std::span(frames, want));
  if (lent == 0 && Clock::now() > deadline_) {
    watch_.Note(
        "lends no frames any more: what it has sent does not come back, its completions are lost");
    stuck_ = true;
  }
  if (lent == 0) return;
  for (Frame& frame : std::span(frames, lent)) {
    DataHeader h{.payload = static_cast<uint16_t>(payload_.size())};
    h.message = options_.trial;
    h.target = sent_++;
    h.length = h.payload;
    frame.size = writer_.Write(h, 0, false, frame.data);
    frame.payload = payload_.data();
    frame.payload_size = static_cast<uint32_t>(payload_.size());
  }
  port.TxBurst(std::span(frames, lent));
  deadline_ = Clock::now() + kLent;
}

FrameTrialResult FrameSender::Result() const {
  FrameTrialResult result;
  result.sent = sent_;
  result.tx_dropped = device_.counters().tx_dropped - before_.tx_dropped;
  result.breach = watch_.breach();
  return result;
}

// --- FrameReceiver ---

FrameReceiver::FrameReceiver(NicDevice& device, const FrameTrialOptions& options)
    : device_(device),
      options_(options),
      payload_(PayloadOf(options, device.address().v6)),
      seen_(options.count),
      before_(device.counters()) {}

void FrameReceiver::GoOnTo(uint32_t frames) {
  awaited_ = frames;
  deadline_ = Clock::now() + kQuiet;
  quiet_ = false;
}

void FrameReceiver::Poll() {
  const Clock::time_point now = Clock::now();
  const size_t got = Receive(device_, watch_, [this](const Frame& frame) { Take(frame); });
  if (got > 0) deadline_ = Clock::now() + kQuiet;
  quiet_ = got == 0 && now >= deadline_;
}

void FrameReceiver::Take(const Frame& frame) {
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

FrameTrialResult FrameReceiver::Result() const {
  FrameTrialResult result = result_;
  const DeviceCounters after = device_.counters();
  result.rx_missed = after.rx_missed - before_.rx_missed;
  result.rx_errors = after.rx_errors - before_.rx_errors;
  result.breach = watch_.breach();
  return result;
}

}  // namespace weir
