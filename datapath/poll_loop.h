// One turn of the crank.
#pragma once

#include <algorithm>
#include <new>
#include <type_traits>

#include "datapath/endpoint.h"
#include "datapath/nic_port.h"

namespace weir {

static_assert(std::is_trivially_copyable_v<Frame>);

// Frames belong to the port, which lends them. Returns how many came in and went out.
inline size_t PollOnce(NicPort& port, Endpoint& endpoint) {
  // Not initialized: the port fills the frames that it lends.
  alignas(Frame) std::byte storage[kBurst * sizeof(Frame)];
  Frame* frames = std::launder(reinterpret_cast<Frame*>(storage));
  const Time now = endpoint.Forward(port.Now());  // the only clock read
  const auto received = std::span(frames, port.RxBurst(std::span(frames, kBurst)));
  endpoint.HandleRx(now, received);
  port.Release(received);
  endpoint.HandleTimers(now);

  const size_t due = std::min(endpoint.Due(now), kBurst);
  if (due == 0) return received.size();
  const auto lent = std::span(frames, port.TxFrames(std::span(frames, due)));
  const size_t filled = endpoint.PollTx(now, lent);
  port.TxBurst(lent);  // cannot fail: the port lent only what it has room for
  return received.size() + filled;
}

}  // namespace weir
