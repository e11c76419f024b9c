// What was granted to one sender and has not arrived. If nothing comes from it for a while, it is
// written off: lost on the way, or the sender is gone. What a sender sends unscheduled at the start
// and after a pause does not count.
#pragma once

#include <algorithm>

#include "datapath/api/units.h"

namespace weir {

class Outstanding {
 public:
  Bytes bytes() const { return bytes_; }
  // When to write off; never, if there is nothing.
  Time due(Duration silence) const { return bytes_ > Bytes(0) ? heard_ + silence : Time::Never(); }

  void Grant(Time now, Bytes granted) {
    if (bytes_ == Bytes(0)) heard_ = now;
    bytes_ += granted;
  }
  // Of a sender that had all it asked for: after a `pause` it begins with so much unscheduled.
  void MayBegin(Time now, Duration pause, Bytes unscheduled) {
    if (bytes_ == Bytes(0) && now - heard_ >= pause) unscheduled_ = unscheduled;
  }
  // Returns by how much less there is now.
  Bytes Arrive(Time now, Bytes size) {
    heard_ = now;
    const Bytes unscheduled = std::min(unscheduled_, size);
    unscheduled_ -= unscheduled;
    const Bytes gone = std::min(bytes_, size - unscheduled);
    bytes_ -= gone;
    return gone;
  }
  Bytes WriteOff() {
    const Bytes gone = bytes_;
    bytes_ = Bytes(0);
    return gone;
  }

 private:
  Bytes bytes_{};
  Bytes unscheduled_{};  // of what comes next
  Time heard_{-Seconds(3600).count()};
};

}  // namespace weir
