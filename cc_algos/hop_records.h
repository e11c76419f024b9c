// What each hop of a connection's way did between two packets that carried telemetry.
//
// A hop is known by its number: where the way changed, the record is only remembered, because what
// two different outputs counted has no difference. Two records of one moment say nothing either.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "datapath/api/signals.h"

namespace weir {

class HopRecords {
 public:
  // Calls visit(before, now, dt) for each hop that both this and the last packet passed, with
  // dt > 0 nanoseconds by the hop's own clock.
  template <class Visit>
  void Update(std::span<const SwitchRecord> records, Visit visit) {
    for (size_t i = 0; i < records.size(); ++i) {
      const SwitchRecord& now = records[i];
      const SwitchRecord before = last_[i];
      last_[i] = now;
      if (i >= known_ || before.hop != now.hop || now.rate <= Rate(0)) continue;
      const Duration dt = now.stamp - before.stamp;
      if (dt > Duration(0)) visit(before, now, static_cast<double>(dt.count()));
    }
    if (!records.empty()) known_ = records.size();
  }
  bool empty() const { return known_ == 0; }
  void Clear() { known_ = 0; }

 private:
  std::array<SwitchRecord, kMaxHops> last_{};
  size_t known_ = 0;  // hops of the last packet
};

}  // namespace weir
