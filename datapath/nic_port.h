// NicPort: the core's one seam to the world. Frames and `now` go in, frames come out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "datapath/api/signals.h"
#include "datapath/api/units.h"

namespace weir {

// Frames a port lends at a time.
inline constexpr size_t kBurst = 32;
// Header room of a frame that a port lends for transmission.
inline constexpr size_t kFrameHeaderRoom = 320;

// Traffic class on the wire; a driver maps it to DSCP, priority or queue.
enum class FrameClass : uint8_t { kData, kRetransmit, kControl };

// Bytes on a port, lent by it. The first `size` bytes at `data` hold the headers. The payload
// follows them there or stands apart at `payload`, so that it leaves without a copy. A null
// `payload` with a `payload_size` is a payload whose content nobody looks at (virtual time).
struct Frame {
  std::byte* data = nullptr;
  uint32_t size = 0;
  uint32_t payload_size = 0;  // of a payload that stands apart; 0: it follows the headers
  const std::byte* payload = nullptr;
  Time rx_time{};  // received: when it arrived at the port, or
  Duration
      rx_gap{};     // up to so long before, where the port has no time stamps: since its last poll
  PathId path = 0;  // to send: the path chosen
  FrameClass cls = FrameClass::kData;
  void* owner = nullptr;  // the driver's
};

// What a port, and the network behind it as far as it is configured, can do.
struct PortCaps {
  Rate line_rate{};
  uint32_t mtu = 9000;  // largest IP packet, bytes
  Signals signals = Signal::kMarkEcho | Signal::kCnp | Signal::kRtt | Signal::kCredit;
};

// One queue pair of a NIC, with its clock. Used by one thread. Time does not run backwards.
class NicPort {
 public:
  virtual ~NicPort() = default;
  virtual Time Now() = 0;
  virtual const PortCaps& caps() const = 0;

  // Lends up to min(out.size(), kBurst) received frames until Release.
  virtual size_t RxBurst(std::span<Frame> out) = 0;
  virtual void Release(std::span<const Frame> frames) = 0;

  // Lends frames with kFrameHeaderRoom bytes to fill, and nothing else in them; fewer when the ring
  // is full. All that were lent go back with the next TxBurst; those left at size 0 are not sent.
  virtual size_t TxFrames(std::span<Frame> out) = 0;
  virtual void TxBurst(std::span<const Frame> frames) = 0;
};

}  // namespace weir
