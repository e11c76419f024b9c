#include "testbed/nic/local_host.h"

#include <utility>

namespace weir {

void LocalHost::Take(std::unique_ptr<NicDevice> device) {
  device_ = std::move(device);
  if (exchange_ != nullptr) exchange_->ReplaceDevice(device_.get());
}

DeviceView LocalHost::Look() {
  return {.address = device_->address(),
          .caps = device_->caps(),
          .facts = device_->facts(),
          .counters = device_->counters(),
          .features = device_->features(),
          .warnings = device_->warnings()};
}

void LocalHost::Close() {
  frames_.reset();
  if (exchange_ != nullptr) exchange_->ReplaceDevice(nullptr);
  device_.reset();
  undrained_.clear();
}

absl::StatusOr<std::unique_ptr<ChunkDevice>> LocalHost::OpenInRdmaMode(
    const DeviceOptions& options) {
  return OpenChunkDevice(options);
}

void LocalHost::Poll() {
  if (exchange_ != nullptr) return exchange_->Poll();
  if (device_ == nullptr) return;
  if (frames_ != nullptr) return frames_->Poll();
  Frame frames[kBurst];
  for (uint32_t q = 0; q < device_->queues(); ++q) {
    NicPort& port = device_->queue(q);
    port.Release(std::span(frames, port.RxBurst(frames)));
  }
}

HostProgress LocalHost::progress() const {
  HostProgress p;
  if (frames_ != nullptr) {
    p.sent = frames_->sent();
    p.arrived = frames_->arrived();
    (sends_ ? p.stuck : p.settled) = frames_->ended();
  }
  if (exchange_ == nullptr) return p;
  p.opened = static_cast<uint32_t>(exchange_->opened());
  p.closed = static_cast<uint32_t>(exchange_->closed());
  p.received = static_cast<uint32_t>(exchange_->received());
  p.messages = static_cast<uint32_t>(exchange_->messages());
  p.drained = exchange_->drained();
  p.problem = exchange_->problem();
  return p;
}

void LocalHost::StartFrames(const FrameTrialOptions& options, const NetAddress& peer, bool sends) {
  sends_ = sends;
  if (sends) {
    frames_ = std::make_unique<FrameSender>(*device_, peer, options);
  } else {
    frames_ = std::make_unique<FrameReceiver>(*device_, options);
  }
}

FrameTrialResult LocalHost::EndFrames() {
  const FrameTrialResult result = frames_->Result();
  frames_.reset();
  return result;
}

void LocalHost::StartExchange(const ExchangeOptions& options, bool asks) {
  exchange_ = std::make_unique<ExchangeHost>(*device_, options, asks);
}

void LocalHost::EndExchange() {
  if (exchange_ == nullptr) return;
  if (device_ != nullptr && !exchange_->drained()) undrained_.push_back(std::move(exchange_));
  exchange_.reset();
}

}  // namespace weir
