// What a receiver has granted to one sender, and what that sender asks for beyond it.
//
// Both travel as sums since the start, so that a lost packet loses nothing. A packet that arrives
// without its payload is to be sent again; its sender hears of that half a round trip later, and
// what it then asks for arrives another half later. Until then its demand is too small by that
// packet, and is added to here.
#pragma once

#include <algorithm>
#include <cstdint>

#include "datapath/api/units.h"
#include "datapath/wire.h"

namespace weir {

class CreditLedger {
 public:
  void Grant(Bytes bytes) { granted_ += static_cast<uint64_t>(bytes.count()); }
  // As it travels, in kCreditUnit: rounded up once, not with each grant.
  uint32_t granted() const {
    return static_cast<uint32_t>((granted_ + kCreditUnit - 1) / kCreditUnit);
  }

  // A packet of `size` on the wire came without its payload. The time runs from the first of them:
  // too little is asked for rather than too much.
  void Trimmed(Time now, Bytes size, Duration base_rtt) {
    if (now >= unheard_until_) {
      unheard_ = 0;
      unheard_until_ = now + base_rtt;
    }
    unheard_ += static_cast<int32_t>((size.count() + kCreditUnit - 1) / kCreditUnit);
  }

  // What `demand`, as it travels, asks for beyond what was granted; not below zero.
  Bytes Ask(Time now, uint32_t demand) const {
    const int32_t more = now < unheard_until_ ? unheard_ : 0;
    return Bytes(std::max(0, static_cast<int32_t>(demand - granted()) + more) * kCreditUnit);
  }

 private:
  uint64_t granted_ = 0;  // bytes
  Time unheard_until_{};
  int32_t unheard_ = 0;  // kCreditUnit, of trimmed packets that demand cannot know of yet
};

}  // namespace weir
