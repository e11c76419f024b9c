// Looks whether a port keeps what NicPort promises, call by call.
#pragma once

#include <span>
#include <string>

#include "datapath/nic_port.h"

namespace weir {

// One for the queues of a device whose clocks are one.
class PortWatch {
 public:
  explicit PortWatch(std::string name) : name_(std::move(name)) {}

  // As the port's own; what is not right is noted and mended for the caller.
  size_t RxBurst(NicPort& port, std::span<Frame> out);
  size_t TxFrames(NicPort& port, std::span<Frame> out);
  void Note(const std::string& what) {
    if (breach_.empty()) breach_ = name_ + " " + what;
  }

  // The first thing that was not right; empty: none.
  const std::string& breach() const { return breach_; }

 private:
  void LookAtClock(NicPort& port);
  void LookAt(const Frame& frame, Time now);

  std::string name_;
  std::string breach_;
  Time last_{INT64_MIN};
};

}  // namespace weir
