// Exact departure times.
#pragma once

#include "datapath/api/units.h"

namespace weir {

// Turns bytes at one rate into departure times. Each time is rounded up, the sum never is: a busy
// period, in which each booking comes no later than the end of the last, ends within 1 ns of
// exact. Shared by the pacer and the testbed's links.
class Serializer {
 public:
  explicit Serializer(Rate rate) : rate_(static_cast<uint64_t>(rate.count())) {}

  Rate rate() const { return Rate(static_cast<int64_t>(rate_)); }
  // Takes effect with the next booking; > 0.
  void set_rate(Rate rate) {
    if (static_cast<uint64_t>(rate.count()) == rate_) return;
    rate_ = static_cast<uint64_t>(rate.count());
    whole_ = free_at().nanos();
    part_ = 0;
  }
  // When the last bit of all that was booked has left.
  Time free_at() const { return Time(whole_ + (part_ > 0 ? 1 : 0)); }

  // The line has been idle until `now`: a new busy period begins there.
  void SkipTo(Time now) {
    whole_ = now.nanos();
    part_ = 0;
  }

  // Books 0 < `n` <= 1 GiB at or after `now`; returns when their last bit has left.
  Time Book(Time now, Bytes n) {
    if (now > free_at()) SkipTo(now);
    const uint64_t scaled = static_cast<uint64_t>(n.count()) * kBitNanosPerByteSecond + part_;
    whole_ += static_cast<int64_t>(scaled / rate_);
    part_ = scaled % rate_;
    return free_at();
  }

 private:
  uint64_t rate_;
  int64_t whole_ = 0;  // ns; the busy period ends part_ / rate_ ns later
  uint64_t part_ = 0;  // in [0, rate_)
};

}  // namespace weir
