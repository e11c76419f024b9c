// Devices over rings in one process: no NIC, real buffers, real polling.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "absl/status/statusor.h"
#include "datapath/nic_device.h"

namespace weir {

struct RingOptions {
  uint32_t ring = 1024;     // frames a queue holds each way; a power of two
  uint32_t buffers = 4096;  // frames that a host may have on their way, a queue
};

// Two devices wired to each other. options.device only names them and may be empty.
absl::StatusOr<std::pair<std::unique_ptr<NicDevice>, std::unique_ptr<NicDevice>>> OpenRingPair(
    const DeviceOptions& options_a, const DeviceOptions& options_b,
    const RingOptions& rings = RingOptions());

// The network's end of a ring device, for one thread, which may be another than the host's.
//
// A frame received belongs to the caller until it is sent, to this or any other far end, or
// dropped. Payload stays where it is: the header bytes at Frame::data may be changed in place, and
// what is behind them only be cut off, by making Frame::size or payload_size smaller before Send.
// Frame::owner is the driver's. Frame::rx_time is the clock's time of the call to Receive.
class RingFarEnd {
 public:
  virtual ~RingFarEnd() = default;

  // On the clock of the host's port.
  virtual Time Now() = 0;
  // What the host has sent, oldest first by queue; up to out.size().
  virtual size_t Receive(std::span<Frame> out) = 0;
  // Hands frames to the queue that their UDP port names, in order; returns how many were taken.
  // The next one found its queue full; it and the rest are still the caller's.
  virtual size_t Send(std::span<const Frame> frames) = 0;
  // The same to one queue, whatever the frames say.
  virtual size_t SendTo(uint32_t queue, std::span<const Frame> frames) = 0;
  virtual void Drop(std::span<const Frame> frames) = 0;
  // A copy with all of its bytes in one buffer, which is not the sender's. False: no buffer is
  // free.
  virtual bool Copy(const Frame& frame, Frame& out) = 0;
};

// One device and its far end. Either may be closed first.
struct RingDevice {
  std::unique_ptr<NicDevice> device;
  std::unique_ptr<RingFarEnd> far_end;
};
absl::StatusOr<RingDevice> OpenRingDevice(const DeviceOptions& options,
                                          const RingOptions& rings = RingOptions());

}  // namespace weir
