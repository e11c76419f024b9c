// The senders to one endpoint as its receiver half keeps them: each in one of a few rings, or in
// none; those of a ring take turns.
#pragma once

#include <cstdint>
#include <vector>

#include "datapath/api/congestion_control.h"

namespace weir {

template <uint8_t kRings>
class SenderRings {
 public:
  static constexpr uint8_t kOut = kRings;  // in none

  explicit SenderRings(uint32_t senders) : places_(senders), first_(kRings, kNoFlow) {}

  uint8_t ring(CreditFlow flow) const { return places_[flow].ring; }
  // The sender to serve next; kNoFlow: the ring is empty.
  CreditFlow first(uint8_t ring) const { return first_[ring]; }
  // The one behind it in its ring; that is first(), after the last.
  CreditFlow next(CreditFlow flow) const { return places_[flow].next; }

  // A sender keeps its place in the ring where it is, and comes last in another.
  void Put(CreditFlow flow, uint8_t ring) {
    if (places_[flow].ring == ring) return;
    Remove(flow);
    if (ring != kOut) Append(flow, ring);
  }
  // Serves the first of a ring that is not empty: it comes last now.
  CreditFlow TakeTurn(uint8_t ring) {
    const CreditFlow flow = first_[ring];
    first_[ring] = places_[flow].next;
    return flow;
  }

 private:
  struct Place {
    CreditFlow next = kNoFlow;
    CreditFlow previous = kNoFlow;
    uint8_t ring = kOut;
  };

  void Append(CreditFlow flow, uint8_t ring) {
    Place& place = places_[flow];
    CreditFlow& first = first_[ring];
    place.ring = ring;
    if (first == kNoFlow) {
      first = place.next = place.previous = flow;
      return;
    }
    place.next = first;
    place.previous = places_[first].previous;
    places_[place.previous].next = flow;
    places_[first].previous = flow;
  }
  void Remove(CreditFlow flow) {
    Place& place = places_[flow];
    if (place.ring == kOut) return;
    CreditFlow& first = first_[place.ring];
    place.ring = kOut;
    if (place.next == flow) {
      first = kNoFlow;
      return;
    }
    places_[place.previous].next = place.next;
    places_[place.next].previous = place.previous;
    if (first == flow) first = place.next;
  }

  std::vector<Place> places_;      // by CreditFlow
  std::vector<CreditFlow> first_;  // by ring
};

}  // namespace weir
