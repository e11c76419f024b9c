// A device's clock, by which it stamps what arrives, on the port's clock.
#pragma once

#include <cstdint>

#include "datapath/api/units.h"

namespace weir {

// A line through readings of both clocks. What the device's clock counts, and from when, is not
// asked: two readings tell.
class StampClock {
 public:
  static constexpr Duration kBetween = Millis(100);  // readings, once it is ready
  static constexpr Duration kFirst = Millis(1);      // the first two

  // The device's clock read `ticks` at some time from `before` to `after` on the port's clock.
  void Read(Time before, uint64_t ticks, Time after);
  Time next_reading() const { return next_; }
  bool ready() const { return nanos_a_tick_ > 0; }

  // When a frame with this stamp arrived, no later than `polled`. Time::Never(): the stamp is none
  // of the time from `since` on, so that it cannot be trusted. Only once ready.
  Time Arrival(uint64_t ticks, Time since, Time polled) const;

 private:
  // How far readings may be off: the device is read over a bus.
  static constexpr Duration kSlack = Micros(5);

  Time at_{};  // of the latest reading
  uint64_t ticks_ = 0;
  bool any_ = false;
  double nanos_a_tick_ = 0;  // 0: not known yet
  Time next_{INT64_MIN};
};

}  // namespace weir
