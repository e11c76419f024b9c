// When a receiver half may grant next, so that its grants add up to a rate exactly: times are
// rounded up, sums are not. Who is asked late makes up for at most one quantum.
#pragma once

#include <cstdint>

#include "datapath/api/units.h"

namespace weir {

class GrantPacer {
 public:
  GrantPacer(Rate rate, Bytes quantum) : rate_(rate), lateness_allowed_(quantum / rate) {}

  Rate rate() const { return rate_; }
  Time free_at() const { return free_at_; }
  void Book(Time now, Bytes granted) {
    if (booked_ == Bytes(0) || now > free_at_ + lateness_allowed_) {
      busy_since_ = now;
      booked_ = Bytes(0);
    }
    booked_ += granted;
    free_at_ = busy_since_ + booked_ / rate_;
  }

 private:
  Rate rate_;
  Duration lateness_allowed_;  // the time of one quantum
  // The grants since `busy_since_` last until `free_at_` at the rate.
  Time busy_since_{};
  Bytes booked_{};
  Time free_at_{INT64_MIN};
};

}  // namespace weir
