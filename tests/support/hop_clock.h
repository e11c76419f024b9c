// Switches as a connection's packets see them: records to hand to an algorithm under test.
#pragma once

#include <array>
#include <span>

#include "tests/support/cc_driver.h"

namespace weir {

// The outputs on a way of two hops. Their clocks are not those of the hosts.
class HopClock {
 public:
  explicit HopClock(CcDriver& driver) : driver_(driver) {
    for (size_t i = 0; i < 2; ++i) {
      hops_[i] = {.stamp = Time(static_cast<int64_t>(i) * 1'000'000),
                  .rate = Gbps(100),
                  .hop = static_cast<uint16_t>(i)};
    }
    Show();
  }
  SwitchRecord& operator[](size_t i) { return hops_[i]; }
  // `dt` later, hop 0 has carried `sent` more and `queue` waits there.
  void Pass(Duration dt, Bytes sent, Bytes queue) {
    for (SwitchRecord& hop : hops_) hop.stamp = hop.stamp + dt;
    hops_[0].transmitted += sent;
    hops_[0].queue = queue;
    Show();
  }

 private:
  void Show() { driver_.See({.telemetry = hops_}); }

  CcDriver& driver_;
  std::array<SwitchRecord, 2> hops_{};
};

}  // namespace weir
