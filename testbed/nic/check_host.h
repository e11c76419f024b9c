// One side of a check: what it does with one of the two devices, wherever that device is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "datapath/nic_device.h"
#include "nic_drivers/chunk_device.h"
#include "testbed/nic/exchange.h"
#include "testbed/nic/frame_trial.h"
#include "testbed/nic/this_host.h"

namespace weir {

// A device as it is open now.
struct DeviceView {
  NetAddress address{};  // with the MAC address
  PortCaps caps{};
  DeviceFacts facts{};
  DeviceCounters counters{};
  std::vector<std::string> features{};
  std::vector<std::string> warnings{};
};

// How far a host is with what it was told to do. Numbers only grow.
struct HostProgress {
  // Of a trial of frames.
  uint32_t sent = 0;
  bool stuck = false;  // its port lends no frames any more
  uint32_t arrived = 0;
  bool settled = false;  // what was awaited has arrived, or nothing does any more
  // Of an exchange.
  uint32_t opened = 0, closed = 0;      // connections
  uint32_t received = 0, messages = 0;  // so far; when all have arrived
  bool drained = false;                 // no frame refers to its memory any more
  std::string problem{};                // of the exchange; empty: none
};

// Its device is open except where said. One thing at a time: a trial of frames or an exchange.
class CheckHost {
 public:
  virtual ~CheckHost() = default;
  virtual const HostFacts& host() const = 0;
  // Not OK, and from then on: it is out of reach, why, and what to do. Whatever it is told then has
  // no effect, what it is asked has an empty answer, and nothing that is awaited is waited for.
  virtual absl::Status reach() const = 0;

  virtual DeviceView Look() = 0;
  // Whether it is open or not. An exchange waits for the device to be opened again.
  virtual void Close() = 0;
  // As NicDevice's.
  virtual absl::Status SetLink(bool up) = 0;
  virtual absl::Status Resolve(NetAddress& remote) = 0;
  // While it is closed. kUnimplemented: not here, and why.
  virtual absl::StatusOr<std::unique_ptr<ChunkDevice>> OpenInRdmaMode(
      const DeviceOptions& options) = 0;

  // Goes on with what it was told; receives and drops frames if that is nothing. Never waits.
  virtual void Poll() = 0;
  // These three as the last Poll found them.
  virtual HostProgress progress() const = 0;
  virtual bool link_up() const = 0;
  virtual bool gone() const = 0;  // the device was taken out

  // One half of a trial: sends frames to `peer`, or counts those that arrive.
  virtual void StartFrames(const FrameTrialOptions& options, const NetAddress& peer,
                           bool sends) = 0;
  // Sends until there are so many; or awaits so many.
  virtual void GoOnTo(uint32_t frames) = 0;
  // What this half knows of the result.
  virtual FrameTrialResult EndFrames() = 0;

  // One half of an exchange; `asks`: the one that opens connections and closes them.
  virtual void StartExchange(const ExchangeOptions& options, bool asks) = 0;
  // One connection more, as soon as there is a way to `peer`.
  virtual void Connect(const NetAddress& peer) = 0;
  // Sends no more, and lets go of its memory once no frame refers to it.
  virtual void Drain() = 0;
  virtual ExchangeReport Report() = 0;
  virtual void EndExchange() = 0;
};

}  // namespace weir
