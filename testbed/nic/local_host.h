// A side of a check whose device is open in this process.
#pragma once

#include <memory>
#include <vector>

#include "testbed/nic/check_host.h"
#include "testbed/nic/exchange_host.h"
#include "testbed/nic/frame_halves.h"

namespace weir {

class LocalHost final : public CheckHost {
 public:
  LocalHost() = default;
  ~LocalHost() override { Close(); }
  LocalHost(const LocalHost&) = delete;
  LocalHost& operator=(const LocalHost&) = delete;

  // Opened by the caller; in place of none. An exchange goes on over it.
  void Take(std::unique_ptr<NicDevice> device);
  bool open() const { return device_ != nullptr; }
  bool in_frames() const { return frames_ != nullptr; }
  bool in_exchange() const { return exchange_ != nullptr; }

  const HostFacts& host() const override { return host_; }
  absl::Status reach() const override { return absl::OkStatus(); }
  DeviceView Look() override;
  void Close() override;
  absl::Status SetLink(bool up) override { return device_->SetLink(up); }
  absl::Status Resolve(NetAddress& remote) override { return device_->Resolve(remote); }
  absl::StatusOr<std::unique_ptr<ChunkDevice>> OpenInRdmaMode(
      const DeviceOptions& options) override;
  void Poll() override;
  HostProgress progress() const override;
  bool link_up() const override { return device_ != nullptr && device_->link_up(); }
  bool gone() const override { return device_ != nullptr && device_->gone(); }
  void StartFrames(const FrameTrialOptions& options, const NetAddress& peer, bool sends) override;
  void GoOnTo(uint32_t frames) override { frames_->GoOnTo(frames); }
  FrameTrialResult EndFrames() override;
  void StartExchange(const ExchangeOptions& options, bool asks) override;
  void Connect(const NetAddress& peer) override { exchange_->Connect(peer); }
  void Drain() override { exchange_->Drain(); }
  ExchangeReport Report() override { return exchange_->Report(); }
  void EndExchange() override;

 private:
  const HostFacts host_ = ThisHost();
  // Frames of the device may refer to memory of these: they go after it.
  std::unique_ptr<ExchangeHost> exchange_;
  std::vector<std::unique_ptr<ExchangeHost>> undrained_;
  std::unique_ptr<NicDevice> device_;
  std::unique_ptr<FrameHalf> frames_;
  bool sends_ = false;  // in a trial of frames
};

}  // namespace weir
