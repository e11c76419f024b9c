// Numbered frames from one device to another, below all connections: what is lost, damaged or cut,
// and whether both ports keep what NicPort promises.
#pragma once

#include <cstdint>
#include <string>

namespace weir {

class CheckHost;

struct FrameTrialOptions {
  uint32_t packet = 0;  // bytes of the IP packet; from FramePacketMin() to the MTU
  uint32_t count = 0;   // frames, > 0
  uint32_t trial = 0;   // a number that tells this trial's frames from an earlier one's
};

// Each half fills in what it knows.
struct FrameTrialResult {
  uint32_t sent = 0;
  uint32_t arrived = 0;     // each once
  uint32_t damaged = 0;     // of these: payload or length are not what was sent
  uint32_t malformed = 0;   // headers or length make no sense; none of these counts as arrived
  uint32_t duplicates = 0;  // arrived again
  uint32_t reordered = 0;   // arrived after a later one
  // What the devices counted meanwhile.
  uint64_t tx_dropped = 0, rx_missed = 0, rx_errors = 0;
  // What a port did that NicPort rules out; empty: nothing.
  std::string breach{};
};

// The shortest IP packet that carries a trial's frame.
uint32_t FramePacketMin(bool v6);
// In bursts, each awaited before the next, so that no queue overflows. Gives up early where nothing
// arrives at all.
FrameTrialResult RunFrameTrial(CheckHost& from, CheckHost& to, const FrameTrialOptions& options);

}  // namespace weir
