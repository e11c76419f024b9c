// The two halves of a trial of frames, each over a device of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "datapath/nic_device.h"
#include "testbed/nic/frame_trial.h"
#include "testbed/nic/port_watch.h"

namespace weir {

class FrameHalf {
 public:
  virtual ~FrameHalf() = default;
  // Sends until there are so many; or awaits so many.
  virtual void GoOnTo(uint32_t frames) = 0;
  virtual void Poll() = 0;
  virtual uint32_t sent() const { return 0; }
  virtual uint32_t arrived() const { return 0; }
  // The sender: its port lends no frames any more; the receiver: nothing more is to be awaited.
  virtual bool ended() const = 0;
  virtual FrameTrialResult Result() const = 0;
};

class FrameSender final : public FrameHalf {
 public:
  // The device outlives it.
  FrameSender(NicDevice& device, const NetAddress& peer, const FrameTrialOptions& options);

  void GoOnTo(uint32_t frames) override;
  void Poll() override;
  uint32_t sent() const override { return sent_; }
  bool ended() const override { return stuck_; }
  FrameTrialResult Result() const override;

 private:
  void Send();

  NicDevice& device_;
  FrameTrialOptions options_;
  FrameWriter writer_;
  std::vector<std::byte> payload_;
  DeviceCounters before_;
  PortWatch watch_{"the sender's port"};
  uint32_t sent_ = 0, goal_ = 0;
  bool stuck_ = false;
  std::chrono::steady_clock::time_point deadline_{};  // to be lent another frame
};

class FrameReceiver final : public FrameHalf {
 public:
  FrameReceiver(NicDevice& device, const FrameTrialOptions& options);

  void GoOnTo(uint32_t frames) override;
  void Poll() override;
  uint32_t arrived() const override { return result_.arrived; }
  bool ended() const override { return quiet_ || result_.arrived >= awaited_; }
  FrameTrialResult Result() const override;

 private:
  void Take(const Frame& frame);

  NicDevice& device_;
  FrameTrialOptions options_;
  std::vector<std::byte> payload_;
  std::vector<bool> seen_;
  DeviceCounters before_;
  PortWatch watch_{"the receiver's port"};
  FrameTrialResult result_;
  uint32_t newest_ = 0, awaited_ = 0;
  std::chrono::steady_clock::time_point deadline_{};  // for another frame to arrive
  bool quiet_ = false;                                // a poll after it found none
};

}  // namespace weir
