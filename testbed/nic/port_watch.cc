#include "testbed/nic/port_watch.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "datapath/text/quantity_text.h"
#include "datapath/wire.h"

namespace weir {
namespace {

constexpr uint32_t kFrameMax = 10'000;  // no frame is longer: 9600 of MTU, headers, padding

}  // namespace

void PortWatch::LookAtClock(NicPort& port) {
  const Time now = port.Now();
  if (now < last_) Note("has a clock that ran back by " + Format(last_ - now));
  last_ = std::max(last_, now);
}

void PortWatch::LookAt(const Frame& frame, Time now) {
  if (frame.data == nullptr) return Note("lends a received frame without memory");
  const uint64_t length = uint64_t{frame.size} + frame.payload_size;
  if (frame.size == 0 || length > kFrameMax) {
    return Note(absl::StrFormat("says that a received frame has %d bytes", length));
  }
  if (frame.rx_gap < Duration(0) || frame.rx_time > now) {
    Note("says that a frame arrived after it was polled");
  }
}

size_t PortWatch::RxBurst(NicPort& port, std::span<Frame> out) {
  LookAtClock(port);
  const size_t got = port.RxBurst(out);
  if (got > std::min(out.size(), kBurst)) {
    Note(absl::StrFormat("lends %d received frames where %d were asked for", got, out.size()));
  }
  const size_t count = std::min({got, out.size(), kBurst});
  const Time now = port.Now();
  for (const Frame& frame : out.first(count)) LookAt(frame, now);
  return count;
}

size_t PortWatch::TxFrames(NicPort& port, std::span<Frame> out) {
  LookAtClock(port);
  const size_t lent = port.TxFrames(out);
  if (lent > std::min(out.size(), kBurst)) {
    Note(absl::StrFormat("lends %d frames to send where %d were asked for", lent, out.size()));
  }
  const size_t count = std::min({lent, out.size(), kBurst});
  for (const Frame& frame : out.first(count)) {
    if (frame.data == nullptr) {
      Note("lends a frame to send without memory");
      return 0;
    }
    if (frame.size != 0 || frame.payload_size != 0) Note("lends a frame to send that is not empty");
  }
  return count;
}

}  // namespace weir
